#include "tilewright/compiler/schedule/task_times.h"

#include <algorithm>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t TaskTimes::onBus(int64_t bytes) const {
  return static_cast<int64_t>(static_cast<double>(bytes) / machine_.dramBytesPerCycle);
}

const TaskTimes::Form &TaskTimes::formOf(int index) {
  std::optional<Form> &known = forms_[static_cast<size_t>(index)];
  if (known)
    return *known;
  const isa::Instruction &instruction = isa_.instructions()[static_cast<size_t>(index)];
  const isa::Unit &unit = isa_.units()[static_cast<size_t>(instruction.unit)];
  auto registerOf = [&](const char *name) {
    const auto found =
        std::find_if(unit.registers.begin(), unit.registers.end(),
                     [&](const isa::StateRegister &reg) { return reg.name == name; });
    return found == unit.registers.end() ? -1 : static_cast<int>(found - unit.registers.begin());
  };
  known = {unit.kind, instruction.operandIndex("swap") >= 0, {}, {}};
  switch (unit.kind) {
  case isa::UnitTemplate::Matrix:
    known->operands = {instruction.operandIndex("n1"), instruction.operandIndex("n0"),
                       instruction.operandIndex("k")};
    break;
  case isa::UnitTemplate::Vector:
    known->operands = {instruction.operandIndex("n0"), instruction.operandIndex("nc")};
    known->registers = {registerOf("n1"), registerOf("k1"), registerOf("k0")};
    break;
  case isa::UnitTemplate::DmaLoad:
  case isa::UnitTemplate::DmaStore:
    known->operands = {instruction.operandIndex("n1"), instruction.operandIndex("n0")};
    known->registers = {registerOf("n2")};
    break;
  default:
    break;
  }
  return *known;
}

int64_t TaskTimes::cyclesOf(const Task &task) {
  const Form &form = formOf(task.instruction);
  auto operand = [&](size_t i) {
    const int index = form.operands[i];
    return index < 0 ? 1 : task.values[static_cast<size_t>(index)];
  };
  auto registers = [&] { // all of them multiplied
    int64_t product = 1;
    for (int wanted : form.registers) {
      const auto *set =
          std::find_if(task.registers.begin(), task.registers.end(),
                       [&](const std::pair<int, int64_t> &each) { return each.first == wanted; });
      product *= set == task.registers.end() ? 1 : set->second;
    }
    return product;
  };
  switch (form.kind) {
  case isa::UnitTemplate::Matrix:
    if (const auto &window = plans_[static_cast<size_t>(task.instruction)].window) {
      isa::ScalarContext scalars;
      scalars.immediates = task.values.data();
      return timing::ColumnBroadcastWalk(*window, scalars).cycles();
    }
    return form.isProduct ? std::max(operand(0) * operand(1), operand(2) + 1) : 0;
  case isa::UnitTemplate::Vector:
    return operand(0) * ceilDiv(operand(1), machine_.lanes) * registers() + machine_.vectorOverhead;
  case isa::UnitTemplate::DmaLoad:
  case isa::UnitTemplate::DmaStore:
    return onBus(operand(0) * operand(1) * registers());
  default:
    return 0;
  }
}

int64_t TaskTimes::computingOf(const Task &task) {
  switch (formOf(task.instruction).kind) {
  case isa::UnitTemplate::Matrix:
    return cyclesOf(task);
  case isa::UnitTemplate::Vector:
    return cyclesOf(task) - machine_.vectorOverhead;
  default:
    return 0;
  }
}

std::vector<int64_t> TaskTimes::byUnit(const Steps &steps, int64_t (TaskTimes::*of)(const Task &)) {
  std::vector<int64_t> cycles(isa_.units().size(), 0);
  steps.forEachStep([&](const Step &step) {
    for (const Task &task : step.compute)
      cycles[static_cast<size_t>(
          isa_.instructions()[static_cast<size_t>(task.instruction)].unit)] += (this->*of)(task);
  });
  return cycles;
}

} // namespace tilewright
