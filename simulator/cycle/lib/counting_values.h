// Registers, and a count of what the instructions move and compute.
#pragma once

#include "register_values.h"

#include "tilewright/simulator/cycle/timing_engine.h"

namespace tilewright::cycle {

class CountingValues : public RegisterValues {
public:
  using RegisterValues::RegisterValues;
  void execute(const DispatchedInstruction &dispatched) override;
  const RunWork &work() const { return work_; }

private:
  RunWork work_;
};

} // namespace tilewright::cycle
