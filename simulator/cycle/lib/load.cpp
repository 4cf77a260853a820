#include "load.h"

#include <algorithm>

namespace tilewright::cycle {

Load::Load(Shared &shared, const isa::Unit &unit, Client client)
    : Unit(shared, unit), client_(client),
      inFlight_(static_cast<size_t>(shared.isa.timing().at("load.inflight"))),
      buffers_(static_cast<size_t>(shared.isa.timing().at("load.buffers"))),
      burstBytes_(static_cast<uint64_t>(shared.isa.param("burst_bytes"))) {}

void Load::step(int64_t t) {
  const bool wasEnding = ending_.has_value(), wasStarted = started_.has_value();
  InstructionRecord *ending = wasEnding ? ending_->record : nullptr;
  const bool ended = tryEnd(t), starts = headStarts();
  if (starts)
    startHead(t);
  if (issuing_ && t >= requestFrom_ && !shared_.readAddressUsed && bursts_.size() < buffers_)
    request(t);

  Activity activity = drain(t, !wasEnding);
  if (activity.kind != Activity::Busy && beatOnBus(t))
    activity = Activity::busy();
  if (activity.kind == Activity::Idle)
    activity = waiting(ended, ending, wasStarted || starts);
  charge(activity, t, 1);
  if (wasStarted)
    issue(t);
}

// Nothing is moved. `ending`: what is done and has yet to end, unless it `ended` in this cycle.
Activity Load::waiting(bool ended, InstructionRecord *ending, bool starts) const {
  if (ended)
    return Activity::busy();
  if (ending != nullptr)
    return Activity::stalled(Stall::Semaphore, ending);
  if (!flights_.empty())
    return Activity::stalled(Stall::Dram, flights_.front().record);
  if (starts)
    return Activity::busy();
  return queue_.empty() ? Activity::idle()
                        : Activity::stalled(Stall::Semaphore, queue_.head().record);
}

void Load::startHead(int64_t t) {
  if (queue_.head().isSet()) {
    set(t);
    return;
  }
  started_ = begin(t);
  shared_.values.execute(*started_);
}

void Load::issue(int64_t t) {
  const DispatchedInstruction dispatched = *started_;
  started_.reset();
  Flight flight;
  flight.record = dispatched.record;
  flight.signal = dispatched.decoded.signal;
  timing::Runs runs(*dispatched.timing, shared_.isa, context(dispatched),
                    dispatched.addresses.data());
  flight.banks = banksOf(runs, shared_);
  flight.space = runs.space();
  if (runs.isFill()) {
    flight.fill = runs;
    flight.requested = true;
  } else {
    const uint64_t bytes = static_cast<uint64_t>(runs.totalElements() * runs.dramBytes());
    dispatched.record->dramReadBytes = bytes;
    shared_.dramReadBytes += bytes;
    flight.requested = runs.done();
    issuing_ = !runs.done();
    requestFrom_ = t - 1 + timing::startedToMoved;
    runs_ = runs;
    position_ = runs_.dram();
  }
  flights_.push_back(flight);
}

void Load::request(int64_t t) {
  const uint64_t begin = runs_.dram(), size = static_cast<uint64_t>(runs_.dramBytes());
  const uint64_t end = begin + static_cast<uint64_t>(runs_.elements()) * size;
  const timing::Cut burst = timing::cut(position_, end, burstBytes_);
  position_ += static_cast<uint64_t>(burst.bytes);
  const timing::Elements own = timing::ownedByLoad(runs_, burst);
  Pieces pieces;
  pieces.stride = runs_.elements() > 1 ? runs_.localStride() : runs_.localBytes();
  pieces.elementBytes = runs_.localBytes();
  pieces.address = runs_.local() + own.first * pieces.stride;
  pieces.elements = own.count();
  const Bus::Beats beats = shared_.bus.read(t, burst.begin, burst.bytes);
  bursts_.push_back({beats, pieces});
  if (shared_.sink != nullptr)
    reportAccess(t, flights_.back().record, isa::Space::Dram, false, burst.begin,
                 toLastBeat(burst.begin, beats.last - beats.first + 1));
  shared_.readAddressUsed = true;
  ++flights_.back().bursts;
  if (position_ == end) {
    runs_.next();
    position_ = runs_.dram();
    if (runs_.done()) {
      issuing_ = false;
      flights_.back().requested = true;
    }
  }
}

// Moves one piece of the oldest load. Idle: there is nothing to move. `mayEnd`: none that came
// before has yet to end.
Activity Load::drain(int64_t t, bool mayEnd) {
  if (flights_.empty())
    return Activity::idle();
  Flight &flight = flights_.front();
  const Banks &banks = shared_.banks(flight.space);
  bool moved = false;
  Pieces *pieces = nullptr;
  if (flight.bursts != 0) {
    if (!bursts_.front().drains(t))
      return Activity::idle();
    pieces = &bursts_.front().pieces;
  } else if (!flight.fill.done()) {
    if (!filling_)
      beginFillRun();
    pieces = &fill_;
  } else if (!flight.requested) {
    return Activity::idle();
  }
  if (pieces != nullptr) {
    const BankMask mask = pieces->mask(banks);
    if (mask != 0 && !shared_.ports.request(port(flight), client_, mask))
      return Activity::stalled(flight.space == isa::Space::Spad ? Stall::SpadPort : Stall::AccPort,
                               flight.record);
    moved = true;
    movePieces(*pieces, t, 1);
    if (pieces->elements == 0)
      drainDone(t);
  }
  if (mayEnd && flight.requested && flight.bursts == 0 && flight.fill.done()) {
    ending_ = Ending{flight.record, flight.signal};
    flights_.pop_front();
    return Activity::busy();
  }
  return moved ? Activity::busy() : Activity::idle();
}

// The next pieces of the oldest load, one a cycle from cycle t on.
void Load::movePieces(Pieces &pieces, int64_t t, int64_t cycles) {
  const Flight &flight = flights_.front();
  const Banks &banks = shared_.banks(flight.space);
  if (shared_.sink == nullptr) {
    pieces.advance(banks, cycles);
    return;
  }
  for (int64_t i = 0; i < cycles; ++i) {
    if (pieces.elements != 0)
      reportAccess(t + i, flight.record, flight.space, true, static_cast<uint64_t>(pieces.address),
                   std::min(pieces.perCycle(banks), pieces.elements) * pieces.elementBytes);
    pieces.advance(banks, 1);
  }
}

void Load::beginFillRun() {
  const timing::Runs &runs = flights_.front().fill;
  fill_.address = runs.local();
  fill_.elements = runs.elements();
  fill_.elementBytes = runs.localBytes();
  fill_.stride = runs.elements() > 1 ? runs.localStride() : runs.localBytes();
  filling_ = true;
}

// The last piece of a burst, or of a fill's run.
void Load::drainDone(int64_t t) {
  Flight &flight = flights_.front();
  if (filling_) {
    filling_ = false;
    flight.fill.next();
    return;
  }
  bursts_.pop_front();
  if (arriving_ > 0)
    --arriving_;
  --flight.bursts;
}

bool Load::beatOnBus(int64_t t) {
  while (arriving_ < bursts_.size() && bursts_[arriving_].beats.last < t)
    ++arriving_;
  return arriving_ < bursts_.size() && bursts_[arriving_].beats.first <= t;
}

int64_t Load::steadyCycles(int64_t t, PortUse &use) {
  if (started_ || headStarts() || (issuing_ && bursts_.size() < buffers_) || canEnd())
    return 0;
  InstructionRecord *ending = ending_ ? ending_->record : nullptr;
  if (flights_.empty()) {
    steadyActivity_ = waiting(false, ending, false);
    return forever;
  }
  const Flight &flight = flights_.front();
  const Banks &banks = shared_.banks(flight.space);
  const Pieces *pieces = nullptr;
  if (flight.bursts != 0 && bursts_.front().drains(t + 1))
    pieces = &bursts_.front().pieces;
  else if (flight.bursts == 0 && !flight.fill.done())
    pieces = filling_ ? &fill_ : nullptr;
  if (pieces != nullptr) {
    use[port(flight)] |= flight.banks;
    steadyActivity_ = Activity::busy();
    return pieces->cycles(banks) - 1;
  }
  if (flight.bursts == 0) {
    // A fill's next run, or its end: unless that waits for the one before.
    if (!flight.fill.done() || !ending_)
      return 0;
    if (beatOnBus(t + 1) || arriving_ < bursts_.size())
      return 0; // beats of the next load come in meanwhile
    steadyActivity_ = waiting(false, ending, false);
    return forever;
  }
  // Waits for its burst; the time until then splits at the beats of what is on the way.
  const int64_t left = bursts_.front().beats.last + timing::landedToDrained - 1 - t;
  if (beatOnBus(t + 1)) {
    steadyActivity_ = Activity::busy();
    return std::min(left, bursts_[arriving_].beats.last - t);
  }
  steadyActivity_ = waiting(false, ending, false);
  return std::min(left,
                  arriving_ < bursts_.size() ? bursts_[arriving_].beats.first - t - 1 : forever);
}

void Load::skip(int64_t t, int64_t n) {
  charge(steadyActivity_, t + 1, n);
  if (flights_.empty())
    return;
  const Flight &flight = flights_.front();
  if (flight.bursts != 0 && bursts_.front().drains(t + 1))
    movePieces(bursts_.front().pieces, t + 1, n);
  else if (flight.bursts == 0 && filling_)
    movePieces(fill_, t + 1, n);
}

Unit::Blocked Load::blocked() const {
  if (ending_)
    return {ending_->record, 0, ending_->signal};
  return blockedHead();
}

} // namespace tilewright::cycle
