#include "digest_sink.h"

#include "mix.h"

#include <algorithm>

namespace tilewright::lockstep {

namespace {

template <typename... Fields> uint64_t digest(Fields... fields) {
  uint64_t sum = 0;
  ((sum = mix(sum ^ static_cast<uint64_t>(fields))), ...);
  return sum;
}

} // namespace

void DigestSink::add(int64_t cycle, uint64_t digest) {
  const auto at = static_cast<size_t>(cycle / window);
  if (at >= windows_.size())
    windows_.resize(at + 1);
  windows_[at] += digest;
}

void DigestSink::access(const AccessEvent &event) {
  add(event.cycle, digest(event.isWrite ? 1 : 2, event.cycle, event.unit, event.pc, event.space,
                          event.address, event.bytes));
  if (!event.isWrite) {
    ++reads_;
    return;
  }
  ++writes_;
  writtenBytes_ += static_cast<uint64_t>(event.bytes);
}

void DigestSink::conflict(const ConflictEvent &event) {
  add(event.cycle, digest(3, event.cycle, event.loser, event.winner, event.pieces));
}

void DigestSink::activity(const ActivityEvent &event) {
  if (event.kind == ActivityEvent::Kind::Stalled)
    stallCycles_ += static_cast<uint64_t>(event.cycles);
  ActivityEvent &open = activities_[static_cast<size_t>(event.unit)];
  if (event.kind == open.kind && event.cause == open.cause && event.pc == open.pc &&
      event.cycle == open.cycle + open.cycles) {
    open.cycles += event.cycles;
    return;
  }
  close(open);
  open = event;
}

// A stretch counts as its parts within the windows.
void DigestSink::close(ActivityEvent &activity) {
  const int64_t end = activity.cycle + activity.cycles;
  for (int64_t at = activity.cycle; at < end;) {
    const int64_t stop = std::min(end, (at / window + 1) * window);
    add(at, digest(4, at, stop, activity.unit, activity.kind, activity.cause, activity.pc));
    at = stop;
  }
  cycles_ = std::max(cycles_, end);
}

void DigestSink::written(InstructionRecord &record, uint64_t instance, isa::Space space,
                         uint64_t address, const uint8_t *bytes, int64_t count) {
  record.written += bytes_.write(instance, space, address, bytes, count);
}

void DigestSink::finish() {
  int64_t cycles = INT64_MAX;
  for (ActivityEvent &activity : activities_) {
    close(activity);
    cycles = std::min(cycles, activity.cycle + activity.cycles);
    activity.cycle += activity.cycles;
    activity.cycles = 0;
  }
  cycles_ = cycles;
}

} // namespace tilewright::lockstep
