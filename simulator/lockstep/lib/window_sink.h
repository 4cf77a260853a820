// A part of a run in full: all events of some cycles, and what one execution of one instruction
// writes.
#pragma once

#include "event.h"

#include <map>
#include <optional>
#include <vector>

namespace tilewright::lockstep {

// An execution of an instruction: the nth (from 0) that writes to memory.
struct Execution {
  uint64_t pc = 0;
  uint64_t nth = 0;
};

class WindowSink : public RunSink {
public:
  WindowSink(int64_t begin, int64_t end, std::optional<Execution> watched)
      : begin_(begin), end_(end), watched_(watched) {}
  void access(const AccessEvent &event) override;
  void activity(const ActivityEvent &event) override;
  void conflict(const ConflictEvent &event) override;
  void written(InstructionRecord &record, uint64_t instance, isa::Space space, uint64_t address,
               const uint8_t *bytes, int64_t count) override;

  // Of cycles [begin, end), in order; activities one a cycle.
  const std::vector<Event> &events();
  // Of the watched execution: bytes by address as it leaves them.
  using Address = std::pair<isa::Space, uint64_t>;
  const std::map<Address, uint8_t> &bytes() const { return bytes_; }
  // Writes of the watched instruction, of all its executions.
  const std::vector<Event> &writes() const { return writes_; }

private:
  void add(const Event &event);

  int64_t begin_, end_;
  std::optional<Execution> watched_;
  std::vector<Event> events_, writes_;
  std::map<uint64_t, uint64_t> instances_; // of the watched instruction: which execution each is
  std::map<Address, uint8_t> bytes_;
};

} // namespace tilewright::lockstep
