// One core in one run: the units, cycle by cycle, or fast-forwarded over steady ones.
#pragma once

#include "load.h"
#include "matrix.h"
#include "sequencer.h"
#include "store.h"
#include "vector.h"

#include "tilewright/simulator/cycle/core_options.h"

#include <array>
#include <functional>
#include <optional>

namespace tilewright::cycle {

class Core {
public:
  Core(const isa::Isa &isa, const std::vector<timing::InstructionTiming> &timings,
       const Program &program, Values &values, Bus &bus, const CoreOptions &options);
  Core(const Core &) = delete;

  // Advances until the program ends or `quantum` cycles have passed; true when it has ended. Throws
  // ProgramFault for traps and deadlocks.
  bool advance(int64_t quantum);
  // Ends the run when so many cycles are over, as `CoreOptions::maxCycles` does; not before this
  // one is.
  void stopAt(int64_t cycle);
  int64_t cycle() const { return t_; } // cycles that are over
  uint64_t pc() const { return sequencer_.pc(); }
  // All but the DRAM's counters and the wall time. The trace is handed over: once.
  RunRecord record();

private:
  bool fastForward(int64_t limit);
  void reportConflicts();
  bool unitsIdle() const {
    return matrix_.idle() && vector_.idle() && load_.idle() &&
           (!secondLoad_ || secondLoad_->idle()) && store_.idle();
  }
  [[noreturn]] void deadlock();

  const isa::Isa &isa_;
  CoreOptions options_;
  Shared shared_;
  Matrix matrix_;
  Vector vector_;
  Load load_;
  std::optional<Load> secondLoad_;
  Store store_;
  std::array<Unit *, clientCount> units_{}; // by client; null: the machine has none
  Sequencer sequencer_;
  int64_t t_ = 0;
  int64_t tryAt_ = 0; // until then stepping is known to be needed
  bool stopped_ = false;
  Ports::Conflicts conflicts_{}; // that the sink was told of
};

} // namespace tilewright::cycle
