// What tasks take of the units that do them, roughly: each has its ports for itself.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/task.h"
#include "tilewright/simulator/timing/instruction_timing.h"

#include <optional>
#include <vector>

namespace tilewright {

class TaskTimes {
public:
  // `plans`: by instruction. All of it stays where it is.
  TaskTimes(const isa::Isa &isa, const ConvMachine &machine,
            const std::vector<timing::InstructionTiming> &plans)
      : isa_(isa), machine_(machine), plans_(plans), forms_(isa.instructions().size()) {}
  // Of a store: that the bus takes.
  int64_t cyclesOf(const Task &task);
  // Of these, what no other task of the unit may overlap; none of what only moves.
  int64_t computingOf(const Task &task);
  // What the tasks that compute take of each unit, by one of these.
  std::vector<int64_t> byUnit(const Steps &steps, int64_t (TaskTimes::*of)(const Task &));
  bool isStore(const Task &task) {
    return formOf(task.instruction).kind == isa::UnitTemplate::DmaStore;
  }
  // That the bus takes to fetch an instruction.
  int64_t fetchCycles() const { return onBus(isa_.instructionBytes()); }

private:
  // Where a task's extents stand that its time depends on.
  struct Form {
    isa::UnitTemplate kind;
    bool isProduct;
    llvm::SmallVector<int, 3> operands, registers;
  };
  const Form &formOf(int instruction);
  int64_t onBus(int64_t bytes) const;

  const isa::Isa &isa_;
  const ConvMachine &machine_;
  const std::vector<timing::InstructionTiming> &plans_;
  std::vector<std::optional<Form>> forms_; // by instruction, once they were asked for
};

} // namespace tilewright
