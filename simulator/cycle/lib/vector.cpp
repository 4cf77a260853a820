#include "vector.h"

#include <algorithm>

namespace tilewright::cycle {

namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
} // namespace

Vector::Vector(Shared &shared, const isa::Unit &unit)
    : Unit(shared, unit), lanes_(shared.isa.param("lanes")),
      startup_(shared.isa.timing().at("vector.start")) {}

void Vector::step(int64_t t) {
  const bool wasEnding = ending_.has_value();
  InstructionRecord *ending = wasEnding ? ending_->record : nullptr;
  const bool ended = tryEnd(t);
  if (phase_ == Phase::Free) {
    charge(free(t, ended, ending), t, 1);
    return;
  }

  Activity activity = Activity::busy();
  if (phase_ == Phase::Startup && --startupLeft_ == 0) {
    step_ = 0;
    nextStep();
  }
  if (phase_ == Phase::Taps || phase_ == Phase::Drain) {
    ++now_;
    if (!write(t)) {
      // Frozen: this cycle did not happen for the strips in the pipeline.
      --now_;
      const Stream &denied = steps_[static_cast<size_t>(pipeline_.front().step)].write;
      if (!writing_)
        activity = Activity::stalled(
            denied.space == isa::Space::Spad ? Stall::SpadPort : Stall::AccPort, record_);
      charge(activity, t, 1);
      return;
    }
    if (phase_ == Phase::Taps)
      activity = tap();
    if (phase_ == Phase::Drain && pipeline_.empty()) {
      if (!wasEnding) {
        ending_ = Ending{record_, signal_};
        phase_ = Phase::Free;
      } else {
        activity = Activity::stalled(Stall::Semaphore, record_);
      }
    }
  }
  charge(activity, t, 1);
}

// A cycle in which no instruction is at work. `ending`: the one before, if it has yet to end, which
// it did (`ended`) in this cycle.
Activity Vector::free(int64_t t, bool ended, InstructionRecord *ending) {
  if (headStarts()) {
    if (queue_.head().isSet())
      set(t);
    else
      start(t);
    return Activity::busy();
  }
  return ended ? Activity::busy() : waiting(ending);
}

Activity Vector::waiting(InstructionRecord *ending) const {
  if (ending != nullptr)
    return Activity::stalled(Stall::Semaphore, ending);
  return queue_.empty() ? Activity::idle()
                        : Activity::stalled(Stall::Semaphore, queue_.head().record);
}

void Vector::start(int64_t t) {
  const DispatchedInstruction dispatched = begin(t);
  record_ = dispatched.record;
  signal_ = dispatched.decoded.signal;
  latency_ = dispatched.timing->latency;
  steps_.clear();
  for (const timing::StepTiming &timing : dispatched.timing->steps)
    steps_.push_back(makeStep(timing, dispatched));
  shared_.values.execute(dispatched);
  startupLeft_ = startup_;
  phase_ = Phase::Startup;
}

Vector::Step Vector::makeStep(const timing::StepTiming &timing,
                              const DispatchedInstruction &dispatched) const {
  const isa::ScalarContext scalars = context(dispatched);
  Step step;
  step.dimensions = static_cast<int>(timing.extents.size());
  step.spatial = timing.spatial;
  step.stripDimension = timing.lanes;
  step.strips = 1;
  for (int i = 0; i < step.dimensions; ++i) {
    const size_t at = static_cast<size_t>(i);
    step.extents[at] = std::max<int64_t>(timing.extents[at](scalars), 0);
    if (i == step.stripDimension) {
      step.laneExtent = step.extents[at];
      step.extents[at] = ceilDiv(step.laneExtent, lanes_);
    }
    (i < timing.spatial ? step.strips : step.taps) *= step.extents[at];
  }
  step.reads = step.taps > 0;
  step.taps = std::max<int64_t>(step.taps, 1);

  // A stream's own view: byte strides of the dimensions, the reach of all its elements.
  auto makeStream = [&](const timing::StreamTiming &streamTiming) {
    const isa::Memory &memory = shared_.isa.memory(streamTiming.space);
    Stream stream;
    stream.walk = timing::walk(streamTiming, memory, scalars, dispatched.addresses.data());
    stream.space = streamTiming.space;
    stream.elementBytes = streamTiming.elementBytes;
    stream.once = streamTiming.once;
    const size_t strip = static_cast<size_t>(std::max(step.stripDimension, 0));
    stream.laneStride = step.stripDimension >= 0 ? stream.walk.stride[strip] : 0;
    int64_t low = stream.walk.address, high = stream.walk.address + stream.elementBytes;
    for (int i = 0; i < step.dimensions; ++i) {
      const int64_t extent =
          i == step.stripDimension ? step.laneExtent : step.extents[static_cast<size_t>(i)];
      const int64_t reach =
          stream.walk.stride[static_cast<size_t>(i)] * std::max<int64_t>(extent - 1, 0);
      (reach < 0 ? low : high) += reach;
    }
    if (step.strips > 0 && (step.reads || streamTiming.once))
      stream.banks = shared_.banks(stream.space).mask(low, high - low);
    stream.walk.stride[strip] *= lanes_;
    return stream;
  };
  step.steady = true;
  std::array<BankMask, portCount> used{};
  for (const timing::StreamTiming &streamTiming : timing.reads) {
    if (!step.reads && !streamTiming.once)
      continue;
    Stream stream = makeStream(streamTiming);
    BankMask &port = used[static_cast<size_t>(readPort(stream))];
    const bool onePiece =
        stream.laneStride == 0 || (stream.laneStride == stream.elementBytes &&
                                   std::min(lanes_, step.laneExtent) * stream.elementBytes <=
                                       shared_.banks(stream.space).portBytes());
    if (!onePiece || (port & stream.banks) != 0)
      step.steady = false;
    port |= stream.banks;
    step.streams.push_back(stream);
  }
  step.writes = timing.writesMemory;
  if (step.writes) {
    step.write = makeStream(timing.write);
    const Stream &d = step.write;
    if (d.laneStride != 0 &&
        (d.laneStride != d.elementBytes ||
         std::min(lanes_, step.laneExtent) * d.elementBytes > shared_.banks(d.space).portBytes()))
      step.steady = false;
  }
  return step;
}

// Enters the next step that has strips, or the drain.
void Vector::nextStep() {
  while (step_ < steps_.size() && steps_[step_].strips == 0)
    ++step_;
  if (step_ == steps_.size()) {
    phase_ = Phase::Drain;
    return;
  }
  phase_ = Phase::Taps;
  strip_ = tap_ = 0;
  beginTap();
}

int64_t Vector::lanesOf(const Step &step, int64_t strip, int64_t tap) const {
  if (step.stripDimension < 0)
    return 1;
  const int64_t blocks =
                    std::max<int64_t>(step.extents[static_cast<size_t>(step.stripDimension)], 1),
                block = (step.stripDimension < step.spatial ? strip : tap) % blocks;
  return std::clamp<int64_t>(step.laneExtent - block * lanes_, 1, lanes_);
}

// Where the stream stands in one tap of one strip.
Vector::Place Vector::place(const Stream &stream, const Step &step, int64_t strip,
                            int64_t tap) const {
  const int64_t elements = stream.laneStride == 0 ? 1 : lanesOf(step, strip, tap);
  int64_t address = stream.walk.address;
  for (int i = step.dimensions - 1; i >= step.spatial; --i) {
    const size_t at = static_cast<size_t>(i);
    if (step.extents[at] > 1) {
      address += tap % step.extents[at] * stream.walk.stride[at];
      tap /= step.extents[at];
    }
  }
  for (int i = step.spatial - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    if (step.extents[at] > 1) {
      address += strip % step.extents[at] * stream.walk.stride[at];
      strip /= step.extents[at];
    }
  }
  return {address, elements};
}

// Points the stream at its elements of one tap of one strip.
void Vector::locate(Stream &stream, const Place &place) {
  stream.address = place.address;
  stream.bytesLeft = stream.piecesLeft = 0;
  if (stream.laneStride == stream.elementBytes || stream.laneStride == 0)
    stream.bytesLeft = place.elements * stream.elementBytes;
  else
    stream.piecesLeft = place.elements;
}

void Vector::beginTap() {
  Step &step = steps_[step_];
  for (Stream &stream : step.streams) {
    stream.bytesLeft = stream.piecesLeft = 0;
    const Place next = place(stream, step, strip_, tap_);
    if (!(stream.held == next))
      locate(stream, next);
    stream.held = next;
  }
}

int64_t Vector::pieceBytes(const Stream &stream) const {
  return std::min(stream.piecesLeft > 0 ? stream.elementBytes : stream.bytesLeft,
                  shared_.banks(stream.space).portBytes());
}

bool Vector::requestPiece(Stream &stream, Port port) {
  const Banks &banks = shared_.banks(stream.space);
  const int64_t bytes = pieceBytes(stream);
  if (!shared_.ports.request(port, Client::Vector, banks.mask(stream.address, bytes)))
    return false;
  if (stream.piecesLeft > 0) {
    stream.address += stream.laneStride;
    --stream.piecesLeft;
  } else {
    stream.address += bytes;
    stream.bytesLeft -= bytes;
  }
  return true;
}

// Writes the strip that is due, if there is one; false freezes the unit for the cycle.
bool Vector::write(int64_t t) {
  if (pipeline_.empty() || pipeline_.front().due != now_)
    return true;
  const Strip &strip = pipeline_.front();
  Step &step = steps_[static_cast<size_t>(strip.step)];
  if (step.writes) {
    if (!pending(step.write))
      locate(step.write, place(step.write, step, strip.strip, 0));
    const uint64_t address = static_cast<uint64_t>(step.write.address);
    const int64_t bytes = pieceBytes(step.write);
    writing_ = requestPiece(step.write, writePort(step.write));
    if (writing_ && shared_.sink != nullptr)
      reportAccess(t, record_, step.write.space, true, address, bytes);
    if (!writing_ || pending(step.write))
      return false;
    writing_ = false;
  }
  pipeline_.pop_front();
  return true;
}

// One cycle of the current tap.
Activity Vector::tap() {
  Step &step = steps_[step_];
  bool done = true, progress = step.streams.empty();
  Stall denied = Stall::None;
  for (Stream &stream : step.streams) {
    if (!pending(stream)) {
      continue;
    }
    if (requestPiece(stream, readPort(stream)))
      progress = true;
    else if (denied == Stall::None)
      denied = stream.space == isa::Space::Spad ? Stall::SpadPort : Stall::AccPort;
    done = done && !pending(stream);
  }
  if (done)
    tapDone();
  return progress || done ? Activity::busy() : Activity::stalled(denied, record_);
}

void Vector::tapDone() {
  const Step &step = steps_[step_];
  if (++tap_ == step.taps) {
    pipeline_.push_back({now_ + latency_, static_cast<int>(step_), strip_});
    tap_ = 0;
    if (++strip_ == step.strips) {
      ++step_;
      nextStep();
      return;
    }
  }
  beginTap();
}

int64_t Vector::steadyCycles(int64_t t, PortUse &use) {
  if (canEnd())
    return 0;
  steadyActivity_ = Activity::busy();
  switch (phase_) {
  case Phase::Free:
    if (headStarts())
      return 0;
    steadyActivity_ = waiting(ending_ ? ending_->record : nullptr);
    return forever;
  case Phase::Startup:
    return startupLeft_ - 1;
  case Phase::Taps:
  case Phase::Drain:
    break;
  }
  // Writes of one piece each and taps of one cycle each: nothing but other units could disturb
  // them.
  for (const Strip &strip : pipeline_) {
    const Step &step = steps_[static_cast<size_t>(strip.step)];
    if (!step.steady)
      return 0;
    if (step.writes)
      use[writePort(step.write)] |= step.write.banks;
  }
  if (phase_ == Phase::Drain) {
    if (!pipeline_.empty())
      return pipeline_.back().due - now_ - 1;
    if (!ending_)
      return 0;
    steadyActivity_ = Activity::stalled(Stall::Semaphore, record_);
    return forever;
  }
  const Step &step = steps_[step_];
  if (!step.steady)
    return 0;
  for (const Stream &stream : step.streams)
    use[readPort(stream)] |= stream.banks;
  if (step.writes)
    use[writePort(step.write)] |= step.write.banks;
  return (step.strips - strip_) * step.taps - tap_ - 1;
}

void Vector::skip(int64_t t, int64_t n) {
  charge(steadyActivity_, t + 1, n);
  if (phase_ == Phase::Startup)
    startupLeft_ -= n;
  if (phase_ != Phase::Taps && phase_ != Phase::Drain)
    return;
  const int64_t until = now_ + n;
  while (!pipeline_.empty() && pipeline_.front().due <= until) {
    reportSkipped(pipeline_.front(), t);
    // It may have been located, and denied: the next one is located anew.
    Stream &write = steps_[static_cast<size_t>(pipeline_.front().step)].write;
    write.bytesLeft = write.piecesLeft = 0;
    pipeline_.pop_front();
  }
  if (phase_ == Phase::Taps) {
    const Step &step = steps_[step_];
    const int64_t position = strip_ * step.taps + tap_, next = position + n;
    const int64_t firstStrip = strip_;
    strip_ = next / step.taps;
    tap_ = next % step.taps;
    // Strip b ends with tap position (b + 1) * taps - 1, in cycle now_ + 1 + that - position.
    int64_t b = firstStrip;
    const int64_t written = until - latency_ - now_ - 1 +
                            position; // tap positions up to here are written within the time
    auto stripOf = [&](int64_t b) {
      return Strip{now_ + 1 + (b + 1) * step.taps - 1 - position + latency_,
                   static_cast<int>(step_), b};
    };
    const int64_t firstLeft = std::max(b, (written + 1) / step.taps);
    for (; b < firstLeft && shared_.sink != nullptr; ++b)
      reportSkipped(stripOf(b), t);
    for (b = firstLeft; b < strip_; ++b)
      pipeline_.push_back(stripOf(b));
    const int64_t before = next - 1;
    for (Stream &stream : steps_[step_].streams)
      stream.held = place(stream, step, before / step.taps, before % step.taps);
    beginTap();
  }
  now_ = until;
}

// A strip whose one piece is written in the cycles after t that are skipped.
void Vector::reportSkipped(const Strip &strip, int64_t t) {
  const Step &step = steps_[static_cast<size_t>(strip.step)];
  if (shared_.sink == nullptr || !step.writes)
    return;
  Stream stream = step.write;
  locate(stream, place(stream, step, strip.strip, 0));
  reportAccess(t + strip.due - now_, record_, stream.space, true,
               static_cast<uint64_t>(stream.address), pieceBytes(stream));
}

Unit::Blocked Vector::blocked() const {
  if (ending_)
    return {ending_->record, 0, ending_->signal};
  return blockedHead();
}

} // namespace tilewright::cycle
