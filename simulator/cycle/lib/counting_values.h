// Registers, and a count of what the instructions move and compute.
#pragma once

#include "register_values.h"

#include "tilewright/isa/switched_logic.h"
#include "tilewright/simulator/cycle/timing_engine.h"

#include <vector>

namespace tilewright::cycle {

class CountingValues : public RegisterValues {
public:
  explicit CountingValues(const isa::Isa &isa);
  void execute(const DispatchedInstruction &dispatched) override;
  const RunWork &work() const { return work_; }

private:
  RunWork work_;
  std::vector<std::vector<isa::SwitchedLogic>> logic_; // by instruction, by step
};

} // namespace tilewright::cycle
