// A program that all units work for, and engines that lie about it.
#pragma once

#include "tilewright/testing/lying_engine.h"

#include "tilewright/lockstep/compare.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewright::lockstep {

// Every unit works; load, matrix and vector unit wait for each other.
const Program &sample();

Comparison compareWith(const std::vector<Engine *> &engines, const CompareOptions &options = {},
                       const Program &program = sample());

// Of a cycle engine that lies, compared with one that does not. `make` gives the lie of one run.
Difference found(const std::function<Lie()> &make, const CompareOptions &options = {});

// All accesses of a true run.
class Recorder : public RunSink {
public:
  void access(const AccessEvent &event) override { accesses.push_back(event); }
  void activity(const ActivityEvent &) override {}
  void conflict(const ConflictEvent &event) override { conflicts.push_back(event); }
  void written(InstructionRecord &, uint64_t, isa::Space, uint64_t, const uint8_t *,
               int64_t) override {}
  std::vector<AccessEvent> accesses;
  std::vector<ConflictEvent> conflicts;
};
const Recorder &truth();
int unitIndex(const char *name);
// The nth write of a unit.
AccessEvent writeOf(const char *unit, size_t nth);
// Changes the nth write of a unit.
std::function<Lie()> onWrite(const char *unit, int nth,
                             const std::function<void(AccessEvent &)> &change);
// The difference when the record alone is changed.
std::string ofRecord(const std::function<void(RunRecord &)> &change);

} // namespace tilewright::lockstep
