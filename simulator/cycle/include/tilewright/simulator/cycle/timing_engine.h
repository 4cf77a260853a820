// The cycle engine's time without its values: for whoever asks how long many programs take.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace tilewright {

// What the instructions of a run moved and computed, counted from their semantics. A row of
// activations counts once for all columns of the array.
struct RunWork {
  struct Bytes {
    uint64_t read = 0, written = 0;
  };
  std::array<Bytes, 3> memories; // by isa::Space
  uint64_t products = 0;         // of the array
  uint64_t vectorElements = 0;   // that the lanes computed, taps of a reduction each
  uint64_t switchedLogic = 0;    // by those, in NAND2 equivalents (isa/switched_logic.h)
};

struct TimedRun {
  RunRecord record; // as the cycle engine's, with its trace
  RunWork work;
};

// The same core and DRAM as the cycle engine, to the cycle: no value decides a time. Runs may go on
// in several threads at once.
class TimingEngine {
public:
  // Throws UserError for a machine that the cycle engine does not make. `isa` must outlive it.
  explicit TimingEngine(const isa::Isa &isa);
  ~TimingEngine();

  // Cycles of the program; nothing when it has not ended after `maxCycles` (0: no limit). Throws
  // UserError for traps and deadlocks.
  std::optional<int64_t> cycles(const Program &program, int64_t maxCycles = 0) const;
  // The whole record of a run. Throws as `cycles` does.
  TimedRun run(const Program &program, int64_t maxCycles = 0) const;

private:
  struct Machine;
  std::unique_ptr<const Machine> machine_;
};

// What the trace of any engine's run moved and computed: for the cycle engine's, TimedRun::work. Of
// a run that was stopped, what has ended counts.
RunWork workOf(const Program &program, const RunRecord &record, const isa::Isa &isa);

} // namespace tilewright
