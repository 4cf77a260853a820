// The cycle engine's time without its values: for whoever asks how long many programs take.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace tilewright {

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

private:
  struct Machine;
  std::unique_ptr<const Machine> machine_;
};

} // namespace tilewright
