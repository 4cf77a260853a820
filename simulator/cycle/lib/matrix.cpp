#include "matrix.h"

#include <algorithm>

namespace tilewright::cycle {

Matrix::Matrix(Shared &shared, const isa::Unit &unit)
    : Unit(shared, unit), pipeline_(shared.isa.timing().at("matrix.pipeline")),
      arrayRows_(shared.isa.param("rows")),
      flights_(static_cast<size_t>(shared.isa.timing().at("matrix.inflight"))) {
  size_t size = 1;
  while (size < static_cast<size_t>(pipeline_ + arrayRows_ + 1)) // a block's rows follow each other
    size *= 2;
  reads_.assign(size, 0);
  writes_.assign(size, 0);
}

bool Matrix::enters(int64_t t) const {
  if (!started_)
    return false;
  const timing::InstructionTiming &timing = *started_->timing;
  if (!timing.isContraction)
    return !loader_.active && !ending_;
  if (!timing.isStationary && !mayLeave(t + 1))
    return false;
  const bool swaps =
      timing.swap >= 0 && started_->decoded.values[static_cast<size_t>(timing.swap)] != 0;
  const bool isLastRow = streamer_.active && streamer_.rowsLeft == 1; // which always gets its port
  return (!isStreaming() || isLastRow) && flightCount_ < flights_.size() &&
         (!swaps || !loader_.active);
}

void Matrix::step(int64_t t) {
  accumulateAccesses(t);

  // Registered values first: nothing of this cycle may be seen in them.
  const bool entersNext = enters(t);
  const size_t inFlight = flightCount_;
  InstructionRecord *ending = ending_ ? ending_->record : nullptr;
  InstructionRecord *oldest = nullptr; // that cannot release its semaphores
  if (flightCount_ != 0 && flight(0).ready <= t) {
    if (canRelease(flight(0).signal)) {
      end(flight(0).record, flight(0).signal, t);
      firstFlight_ = (firstFlight_ + 1) % flights_.size();
      --flightCount_;
    } else {
      oldest = flight(0).record;
    }
  }
  const bool ended = tryEnd(t), starts = headStarts();
  if (starts)
    startHead(t);

  Activity activity;
  bool decided = true;
  if (streamer_.active) {
    InstructionRecord *record = streamer_.record;
    activity = stream(t) ? Activity::busy() : Activity::stalled(Stall::SpadPort, record);
  } else if (outputStationary_.active) {
    InstructionRecord *record = outputStationary_.record;
    activity = stepBlock(t) ? Activity::busy() : Activity::stalled(Stall::SpadPort, record);
  } else if (starts) {
    activity = Activity::busy();
  } else {
    decided = false;
  }
  if (loader_.active) {
    InstructionRecord *record = loader_.record;
    const bool granted = load();
    if (!decided)
      activity = Activity::stalled(granted ? Stall::Dependence : Stall::SpadPort, record);
  } else if (!decided) {
    const bool works = ended || (ending == nullptr && entersNext);
    activity = works ? Activity::busy() : waiting(ending, oldest, inFlight);
  }
  charge(activity, t, 1);
  if (entersNext)
    enter(t);
}

// Neither streamer nor loader is at work. `ending` and `oldest`: what cannot release its
// semaphores, an mload and an mmul; null: none.
Activity Matrix::waiting(InstructionRecord *ending, InstructionRecord *oldest,
                         size_t inFlight) const {
  if (ending != nullptr)
    return Activity::stalled(Stall::Semaphore, ending);
  if (oldest != nullptr)
    return Activity::stalled(Stall::Semaphore, oldest);
  if (started_)
    return Activity::stalled(Stall::Dependence, started_->record);
  if (!queue_.empty())
    return Activity::stalled(Stall::Semaphore, queue_.head().record);
  return inFlight == 0 ? Activity::idle() : Activity::busy();
}

bool Matrix::stream(int64_t t) {
  Streamer &s = streamer_;
  const bool reads = s.activationBytes > 0 && (!s.window || s.index[1] < s.window->span);
  if (reads && !shared_.ports.request(Port::SpadRead, Client::Matrix,
                                      shared_.spad.mask(s.activation, s.activationBytes)))
    return false;
  issueRow(t);
  if (--s.rowsLeft == 0) {
    s.active = false;
    flight(flightCount_ - 1).ready = t + pipeline_ - (s.window ? s.window->trailing : 0);
  } else {
    advanceRow();
  }
  return true;
}

// False when a port was denied. A piece that was granted is not asked for again.
bool Matrix::stepBlock(int64_t t) {
  OutputStationary &s = outputStationary_;
  auto ask = [&](const timing::Blocks::Piece &piece, bool &has) {
    has = has || piece.bytes == 0 ||
          shared_.ports.request(Port::SpadRead, Client::Matrix,
                                shared_.spad.mask(piece.address, piece.bytes));
  };
  ask(s.blocks.activationPiece(s.block, s.cycle), s.hasActivations);
  ask(s.blocks.weightPiece(s.block, s.cycle), s.hasWeights);
  if (!s.hasActivations || !s.hasWeights)
    return false;
  s.hasActivations = s.hasWeights = false;
  finishCycle(t);
  return true;
}

// The cycle's pieces are there. After the block's last one its sums leave, the last pixel's first.
void Matrix::finishCycle(int64_t t) {
  OutputStationary &s = outputStationary_;
  if (++s.cycle < s.blocks.cycles(s.block) || !mayLeave(t))
    return;
  const int64_t rows = s.blocks.rows(s.block), firstPixel = s.block * arrayRows_;
  const size_t mask = writes_.size() - 1;
  for (int64_t i = 0; i < rows; ++i) {
    const timing::Blocks::Piece sums = s.blocks.sumPiece(firstPixel + rows - 1 - i);
    const int64_t at = t + pipeline_ + i;
    writes_[static_cast<size_t>(at - timing::sumsClaimedAhead) & mask] =
        shared_.acc.mask(sums.address, sums.bytes);
    if (shared_.sink != nullptr)
      reportAccess(at, s.record, isa::Space::Acc, true, static_cast<uint64_t>(sums.address),
                   sums.bytes);
  }
  accessesUntil_ = t + pipeline_ + rows - 1;
  s.cycle = 0;
  if (++s.block < s.blocks.count())
    return;
  s.active = false;
  flight(flightCount_ - 1).ready = accessesUntil_;
}

int64_t Matrix::sumAddress() const {
  const Streamer &s = streamer_;
  int64_t address = s.accumulator;
  if (s.window)
    for (size_t i : {size_t(0), size_t(1)})
      address += s.index[i] / s.window->strides[i] * s.outputStride[i];
  return address;
}

// Puts down the accumulator accesses of the sum that begins with the row that was read in cycle g.
void Matrix::issueRow(int64_t g) {
  if (!beginsSum())
    return;
  const Streamer &s = streamer_;
  const size_t mask = writes_.size() - 1;
  const BankMask banks = shared_.acc.mask(sumAddress(), s.accumulatorBytes);
  accessesUntil_ = g + pipeline_;
  writes_[static_cast<size_t>(accessesUntil_ - timing::sumsClaimedAhead) & mask] = banks;
  if (s.accumulate)
    reads_[static_cast<size_t>(accessesUntil_ - timing::sumsReadAhead) & mask] = banks;
  if (shared_.sink != nullptr)
    reportRow(g);
}

// The write of the row that is read in cycle g: it always gets its port.
void Matrix::reportRow(int64_t g) {
  if (beginsSum())
    reportAccess(g + pipeline_, streamer_.record, isa::Space::Acc, true,
                 static_cast<uint64_t>(sumAddress()), streamer_.accumulatorBytes);
}

void Matrix::advanceRow() {
  Streamer &s = streamer_;
  for (int i = s.dimensions - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    s.activation += s.activationStride[at];
    s.accumulator += s.accumulatorStride[at];
    if (++s.index[at] < s.extents[at])
      return;
    s.activation -= s.activationStride[at] * s.extents[at];
    s.accumulator -= s.accumulatorStride[at] * s.extents[at];
    s.index[at] = 0;
  }
}

// advanceRow, n times.
void Matrix::seekRows(int64_t n) {
  Streamer &s = streamer_;
  for (int i = s.dimensions - 1; i >= 0 && n > 0; --i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t moved = s.index[at] + n;
    const int64_t index = moved < s.extents[at] ? moved : moved % s.extents[at];
    s.activation += (index - s.index[at]) * s.activationStride[at];
    s.accumulator += (index - s.index[at]) * s.accumulatorStride[at];
    s.index[at] = index;
    n = moved < s.extents[at] ? 0 : moved / s.extents[at];
  }
}

// True when its row was granted, or there was none to ask for.
bool Matrix::load() {
  Loader &l = loader_;
  if (l.bytes > 0 &&
      !shared_.ports.request(Port::SpadRead, Client::Matrix, shared_.spad.mask(l.address, l.bytes)))
    return false;
  l.address += l.stride;
  if (--l.rowsLeft == 0) {
    l.active = false;
    ending_ = Ending{l.record, l.signal};
  }
  return true;
}

void Matrix::accumulateAccesses(int64_t t) {
  if (t > accessesUntil_)
    return;
  const size_t at = static_cast<size_t>(t) & (writes_.size() - 1);
  if (writes_[at] != 0) {
    shared_.ports.request(Port::AccWrite, Client::Matrix, writes_[at]);
    writes_[at] = 0;
  }
  if (reads_[at] != 0) {
    shared_.ports.request(Port::AccRead, Client::Matrix, reads_[at]);
    reads_[at] = 0;
  }
}

int64_t Matrix::steadyCycles(int64_t t, PortUse &use) {
  if (headStarts() || enters(t + 1) || canEnd())
    return 0;
  int64_t n = forever;
  if (!isStreaming() && !mayLeave(t + 2)) // what started may enter then
    n = accessesUntil_ - pipeline_ - t - 1;
  if (flightCount_ != 0) {
    const int64_t ready = flight(0).ready;
    if (ready <= t ? canRelease(flight(0).signal) : true)
      n = std::min(n, std::max<int64_t>(ready - t - 1, 0));
  }
  if (streamer_.active) {
    n = std::min(n, streamer_.rowsLeft - 1);
    use[Port::SpadRead] |= streamer_.activationBanks;
  }
  if (outputStationary_.active) {
    if (outputStationary_.activationBanks & outputStationary_.weightBanks)
      return 0;
    n = std::min(n, outputStationary_.blocks.cycles(outputStationary_.block) - 1 -
                        outputStationary_.cycle);
    if (n <= 0) // sums leave, or wait for it
      return 0;
    use[Port::SpadRead] |= outputStationary_.activationBanks | outputStationary_.weightBanks;
  }
  if (loader_.active) {
    n = std::min(n, loader_.rowsLeft - 1);
    // Two masks on one port: both streams of this unit, so a common bank is a conflict of its own.
    if (use[Port::SpadRead] & loader_.banks)
      return 0;
    use[Port::SpadRead] |= loader_.banks;
  }
  if (n == 0)
    return 0;
  for (size_t i = 0; i < flightCount_; ++i) {
    use[Port::AccWrite] |= flight(i).accumulatorBanks;
    use[Port::AccRead] |= flight(i).accumulatorBanks;
  }
  if (isStreaming())
    steadyActivity_ = Activity::busy();
  else if (loader_.active)
    steadyActivity_ = Activity::stalled(Stall::Dependence, loader_.record);
  else
    steadyActivity_ = waiting(
        ending_ ? ending_->record : nullptr,
        flightCount_ != 0 && flight(0).ready <= t ? flight(0).record : nullptr, flightCount_);
  return n;
}

void Matrix::skip(int64_t t, int64_t n) {
  const size_t mask = writes_.size() - 1;
  const int64_t clearTo = std::min(t + n, accessesUntil_);
  for (int64_t c = t + 1; c <= clearTo; ++c)
    writes_[static_cast<size_t>(c) & mask] = reads_[static_cast<size_t>(c) & mask] = 0;
  if (streamer_.active) {
    // Rows whose accesses fall into the skipped time are gone already; only the others are put
    // down.
    const int64_t past = std::max<int64_t>(n - pipeline_, 0);
    if (shared_.sink == nullptr)
      seekRows(past);
    else
      for (int64_t c = t + 1; c <= t + past; ++c, advanceRow())
        reportRow(c);
    for (int64_t c = t + 1 + past; c <= t + n; ++c) {
      issueRow(c);
      for (auto [accesses, ahead] : {std::pair(&reads_, timing::sumsReadAhead),
                                     std::pair(&writes_, timing::sumsClaimedAhead)})
        if (c - ahead + pipeline_ <= t + n)
          (*accesses)[static_cast<size_t>(c - ahead + pipeline_) & mask] = 0;
      advanceRow();
    }
    streamer_.rowsLeft -= n;
  }
  if (outputStationary_.active) {
    outputStationary_.cycle += n;
    outputStationary_.hasActivations = outputStationary_.hasWeights = false;
  }
  if (loader_.active) {
    loader_.address += loader_.stride * n;
    loader_.rowsLeft -= n;
  }
  charge(steadyActivity_, t + 1, n);
}

Unit::Blocked Matrix::blocked() const {
  if (ending_)
    return {ending_->record, 0, ending_->signal};
  if (flightCount_ != 0 && flight(0).ready < forever)
    return {flight(0).record, 0, flight(0).signal};
  return blockedHead();
}

} // namespace tilewright::cycle
