// A run in little memory: one digest for every window of cycles.
#pragma once

#include "event.h"
#include "written_bytes.h"

#include <vector>

namespace tilewright::lockstep {

class DigestSink : public RunSink {
public:
  static constexpr int64_t window = 1024; // cycles

  explicit DigestSink(size_t units) : activities_(units, noCycles()) {}
  void access(const AccessEvent &event) override;
  void activity(const ActivityEvent &event) override;
  void conflict(const ConflictEvent &event) override;
  void written(InstructionRecord &record, uint64_t instance, isa::Space space, uint64_t address,
               const uint8_t *bytes, int64_t count) override;

  // After the run.
  void finish();
  const std::vector<uint64_t> &windows() const { return windows_; }
  // Cycles of which everything is known: an aborted run has told a part of its last cycle.
  int64_t cycles() const { return cycles_; }
  uint64_t writes() const { return writes_; }
  uint64_t writtenBytes() const { return writtenBytes_; }
  uint64_t reads() const { return reads_; }
  uint64_t stallCycles() const { return stallCycles_; }

private:
  static ActivityEvent noCycles() {
    ActivityEvent none;
    none.cycles = 0;
    return none;
  }
  void add(int64_t cycle, uint64_t digest);
  void close(ActivityEvent &activity);

  std::vector<uint64_t> windows_;
  std::vector<ActivityEvent> activities_; // by unit: a stretch of equal cycles, as far as it went
  WrittenBytes bytes_;
  int64_t cycles_ = 0;
  uint64_t writes_ = 0, writtenBytes_ = 0, reads_ = 0, stallCycles_ = 0;
};

} // namespace tilewright::lockstep
