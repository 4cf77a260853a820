#include "window_sink.h"

#include <algorithm>

namespace tilewright::lockstep {

void WindowSink::add(const Event &event) {
  if (event.cycle >= begin_ && event.cycle < end_)
    events_.push_back(event);
}

void WindowSink::access(const AccessEvent &access) {
  const Event event = eventOf(access);
  add(event);
  if (watched_ && access.isWrite && access.pc == watched_->pc)
    writes_.push_back(event);
}

void WindowSink::conflict(const ConflictEvent &conflict) { add(eventOf(conflict)); }

void WindowSink::activity(const ActivityEvent &activity) {
  Event event = eventOf(activity);
  const int64_t stop = std::min(activity.cycle + activity.cycles, end_);
  for (event.cycle = std::max(activity.cycle, begin_); event.cycle < stop; ++event.cycle)
    events_.push_back(event);
}

void WindowSink::written(InstructionRecord &record, uint64_t instance, isa::Space space,
                         uint64_t address, const uint8_t *bytes, int64_t count) {
  if (!watched_ || record.pc != watched_->pc)
    return;
  const uint64_t nth = instances_.emplace(instance, instances_.size()).first->second;
  if (nth != watched_->nth)
    return;
  for (int64_t i = 0; i < count; ++i)
    bytes_[{space, address + static_cast<uint64_t>(i)}] = bytes[i];
}

const std::vector<Event> &WindowSink::events() {
  std::sort(events_.begin(), events_.end());
  return events_;
}

} // namespace tilewright::lockstep
