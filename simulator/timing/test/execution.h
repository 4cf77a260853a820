// One execution of an instruction, for tests of its timing.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/simulator/timing/instruction_timing.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright::timing::test {

using Values = std::map<std::string, int64_t>; // of operands and registers of the unit, by name

// edge16, with the shipped overlay of that name if there is one. Lives until the end.
const isa::Isa &machine(const std::string &overlay = "");

class Execution {
public:
  // Registers that `values` does not name are as after a reset; operands 0.
  Execution(const isa::Isa &isa, const std::string &instruction, const Values &values);

  const InstructionTiming &timing() const { return timing_; }
  isa::ScalarContext context() const;
  const int64_t *addresses() const { return operands_.data(); }

private:
  InstructionTiming timing_;
  std::vector<int64_t> operands_, registers_;
};

} // namespace tilewright::timing::test
