#include "store.h"

#include <algorithm>

namespace tilewright::cycle {

Store::Store(Shared &shared, const isa::Unit &unit)
    : Unit(shared, unit), inFlight_(static_cast<size_t>(shared.isa.timing().at("store.inflight"))),
      buffers_(static_cast<size_t>(shared.isa.timing().at("store.buffers"))),
      outstanding_(static_cast<size_t>(shared.isa.timing().at("store.outstanding"))),
      burstBytes_(static_cast<uint64_t>(shared.isa.param("burst_bytes"))) {}

void Store::step(int64_t t) {
  // Registered values first: nothing of this cycle may be seen in it.
  const size_t inFlight = flights_.size(), freeBuffers = buffers_ - buffersUsed_;
  const bool wasEmpty = flights_.empty(), wasStarted = started_.has_value();
  InstructionRecord *oldest = wasEmpty ? nullptr : flights_.front().record;
  bool cannotSignal = false;
  retire(t, cannotSignal);

  const bool sent = send(t);
  const bool starts = headStarts(inFlight);
  if (starts)
    startHead(t);
  Activity activity = gather(t, freeBuffers);
  if (sent)
    activity = Activity::busy();
  if (activity.kind == Activity::Idle) {
    if (!wasEmpty)
      activity = Activity::stalled(cannotSignal ? Stall::Semaphore : Stall::Dram, oldest);
    else if (starts || wasStarted)
      activity = Activity::busy();
    else if (!queue_.empty())
      activity = Activity::stalled(Stall::Semaphore, queue_.head().record);
  }
  charge(activity, t, 1);
  if (wasStarted)
    issue(t);
}

bool Store::retire(int64_t t, bool &cannotSignal) {
  if (flights_.empty())
    return false;
  const Flight &flight = flights_.front();
  if (!flight.gathered || flight.bursts != 0 || flight.ready > t)
    return false;
  if (!canRelease(flight.signal)) {
    cannotSignal = true;
    return false;
  }
  end(flight.record, flight.signal, t);
  flights_.pop_front();
  if (unsent_ > 0)
    --unsent_;
  return true;
}

void Store::startHead(int64_t t) {
  if (queue_.head().isSet()) {
    set(t);
    return;
  }
  started_ = begin(t);
  shared_.values.execute(*started_);
}

void Store::issue(int64_t t) {
  const DispatchedInstruction dispatched = *started_;
  started_.reset();
  runs_ = timing::Runs(*dispatched.timing, shared_.isa, context(dispatched),
                       dispatched.addresses.data());
  banks_ = banksOf(runs_, shared_);
  const uint64_t bytes = static_cast<uint64_t>(runs_.totalElements() * runs_.dramBytes());
  dispatched.record->dramWriteBytes = bytes;
  shared_.dramWriteBytes += bytes;
  Flight flight;
  flight.record = dispatched.record;
  flight.signal = dispatched.decoded.signal;
  flight.gathered = runs_.done();
  flight.ready = t + 1;
  flights_.push_back(flight);
  gathering_ = !runs_.done();
  gatherFrom_ = t - 1 + timing::startedToMoved;
  position_ = runs_.dram();
  inBurst_ = false;
}

// Reads one piece. Idle: there is none to read, or no buffer for it.
Activity Store::gather(int64_t t, size_t freeBuffers) {
  if (!gathering_ || t < gatherFrom_)
    return Activity::idle();
  if (!inBurst_) {
    if (freeBuffers == 0)
      return Activity::idle();
    beginBurst();
  }
  const Banks &banks = shared_.banks(runs_.space());
  const BankMask mask = pieces_.mask(banks);
  if (mask != 0 && !shared_.ports.request(port(), Client::Store, mask))
    return Activity::stalled(runs_.space() == isa::Space::Spad ? Stall::SpadPort : Stall::AccPort,
                             flights_.back().record);
  pieces_.advance(banks, 1);
  if (pieces_.elements == 0)
    gathered(t);
  return Activity::busy();
}

void Store::beginBurst() {
  const uint64_t begin = runs_.dram(), size = static_cast<uint64_t>(runs_.dramBytes());
  burst_ =
      timing::cut(position_, begin + static_cast<uint64_t>(runs_.elements()) * size, burstBytes_);
  position_ += static_cast<uint64_t>(burst_.bytes);
  const timing::Elements own = timing::ownedByStore(runs_, burst_);
  pieces_.stride = runs_.elements() > 1 ? runs_.localStride() : runs_.localBytes();
  pieces_.elementBytes = runs_.localBytes();
  pieces_.address = runs_.local() + own.first * pieces_.stride;
  pieces_.elements = own.count();
  inBurst_ = true;
  ++buffersUsed_;
  ++flights_.back().bursts;
}

// The burst's last piece was read in cycle t.
void Store::gathered(int64_t t) {
  inBurst_ = false;
  waiting_.push_back({burst_, shared_.bus.beats(burst_.begin, burst_.bytes), flights_.back().record,
                      t + timing::gatheredToSent});
  if (position_ == runs_.dram() + static_cast<uint64_t>(runs_.elements() * runs_.dramBytes())) {
    runs_.next();
    position_ = runs_.dram();
    if (runs_.done()) {
      gathering_ = false;
      flights_.back().gathered = true;
    }
  }
}

void Store::forgetAnswered(int64_t t) {
  while (!responses_.empty() && responses_.front() < t)
    responses_.pop_front();
}

// One beat on the write channel; true when there was one.
bool Store::send(int64_t t) {
  if (beatsLeft_ == 0) {
    if (waiting_.empty() || waiting_.front().from > t)
      return false;
    forgetAnswered(t);
    if (responses_.size() >= outstanding_)
      return false;
    sending_ = waiting_.front().cut;
    beatsLeft_ = waiting_.front().beats;
    sender_ = waiting_.front().record;
    waiting_.pop_front();
  }
  if (shared_.sink != nullptr)
    reportBeat(t, beatsLeft_);
  if (--beatsLeft_ == 0) {
    const int64_t response = shared_.bus.write(t, sending_.begin, sending_.bytes);
    responses_.push_back(response);
    --buffersUsed_;
    // Bursts are sent in order: the flight is the first that still has some to send.
    while (flights_[unsent_].gathered && flights_[unsent_].bursts == 0)
      ++unsent_;
    Flight &flight = flights_[unsent_];
    --flight.bursts;
    flight.ready = response;
  }
  return true;
}

// The beat of the burst being sent that has so many left, itself counted.
void Store::reportBeat(int64_t t, int64_t left) {
  const auto bus = static_cast<uint64_t>(shared_.isa.param("bus_bytes"));
  const uint64_t end = sending_.begin + static_cast<uint64_t>(sending_.bytes);
  const uint64_t beat = ((end - 1) / bus - static_cast<uint64_t>(left - 1)) * bus;
  const uint64_t from = std::max(beat, sending_.begin), to = std::min(beat + bus, end);
  reportAccess(t, sender_, isa::Space::Dram, true, from, static_cast<int64_t>(to - from));
}

int64_t Store::steadyCycles(int64_t t, PortUse &use) {
  int64_t n = forever;
  if (started_ || headStarts(flights_.size()))
    return 0;
  bool works = false;
  if (gathering_) {
    if (inBurst_) {
      const Banks &banks = shared_.banks(runs_.space());
      use[port()] |= banks_;
      n = std::min(n, pieces_.cycles(banks) - 1);
      works = true;
    } else if (buffersUsed_ < buffers_ || t + 1 < gatherFrom_) {
      return 0;
    }
  }
  if (beatsLeft_ > 0) {
    n = std::min(n, beatsLeft_ - 1);
    works = true;
  } else if (!waiting_.empty()) {
    forgetAnswered(t + 1);
    if (responses_.size() < outstanding_)
      return 0;
    n = std::min(n, responses_.front() - t);
  }
  bool cannotSignal = false;
  if (!flights_.empty()) {
    const Flight &flight = flights_.front();
    if (flight.gathered && flight.bursts == 0) {
      if (flight.ready > t + 1)
        n = std::min(n, flight.ready - t - 1);
      else if (canRelease(flight.signal))
        return 0;
      else
        cannotSignal = true;
    }
  }
  if (works)
    steadyActivity_ = Activity::busy();
  else if (!flights_.empty())
    steadyActivity_ =
        Activity::stalled(cannotSignal ? Stall::Semaphore : Stall::Dram, flights_.front().record);
  else
    steadyActivity_ = queue_.empty() ? Activity::idle()
                                     : Activity::stalled(Stall::Semaphore, queue_.head().record);
  return n;
}

void Store::skip(int64_t t, int64_t n) {
  charge(steadyActivity_, t + 1, n);
  if (gathering_ && inBurst_)
    pieces_.advance(shared_.banks(runs_.space()), n);
  if (beatsLeft_ > 0) {
    if (shared_.sink != nullptr)
      for (int64_t i = 0; i < n; ++i)
        reportBeat(t + 1 + i, beatsLeft_ - i);
    beatsLeft_ -= n;
  }
}

Unit::Blocked Store::blocked() const {
  if (!flights_.empty() && flights_.front().gathered && flights_.front().bursts == 0)
    return {flights_.front().record, 0, flights_.front().signal};
  return blockedHead();
}

} // namespace tilewright::cycle
