#include "tilewright/compiler/schedule/task.h"

#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

TaskForm::TaskForm(const isa::Isa &isa, const isa::Instruction &instruction)
    : instruction_(&instruction), unit_(&isa.units()[static_cast<size_t>(instruction.unit)]) {
  for (const isa::Operand &operand : instruction_->operands)
    operands_.emplace_back(operand.name);
  for (const isa::StateRegister &reg : unit_->registers)
    registers_.emplace_back(reg.name);
}

void TaskForm::hasNoOperand(Name name) const {
  throw std::logic_error(
      fmt::format("instruction '{}' has no operand '{}'", instruction_->name, name.str()));
}

void TaskForm::hasNoRegister(Name name) const {
  throw UnfitDescription({},
                         fmt::format("unit '{}' has no register '{}', which this model needs",
                                     unit_->name, name.str()),
                         "keep the register in the description");
}

namespace {

class Hash {
public:
  void add(uint64_t value) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15;
    hash_ = (hash_ ^ (hash_ >> 32) ^ value) * odd;
  }
  void add(const Task &task) {
    constexpr uint64_t apart = 0xD6E8FEB86659FD93; // two numbers in one
    add(static_cast<uint64_t>(task.instruction));
    for (size_t i = 0; i < task.values.size(); ++i)
      add(static_cast<uint64_t>(task.values[i]) + static_cast<uint64_t>(task.buffers[i]) * apart);
    for (const auto &[reg, value] : task.registers)
      add(static_cast<uint64_t>(value) + static_cast<uint64_t>(reg) * apart);
  }
  void add(const std::vector<Task> &tasks) {
    add(tasks.size());
    for (const Task &task : tasks)
      add(task);
  }
  uint64_t value() const { return hash_; }

private:
  uint64_t hash_ = 1;
};

} // namespace

uint64_t hashOf(const Steps &steps) {
  Hash hash;
  for (const Buffer &buffer : steps.buffers) {
    hash.add(static_cast<uint64_t>(buffer.space));
    hash.add(static_cast<uint64_t>(buffer.bytes));
    hash.add(static_cast<uint64_t>(buffer.traffic));
  }
  for (int64_t address : steps.layout)
    hash.add(static_cast<uint64_t>(address));
  for (const Step &step : steps.steps)
    for (const std::vector<Task> *tasks :
         {&step.constants, &step.loads, &step.compute, &step.stores})
      hash.add(*tasks);
  return hash.value();
}

} // namespace tilewright
