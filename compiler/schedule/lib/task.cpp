#include "tilewright/compiler/task.h"

#include "tilewright/support/error.h"

#include <cstring>
#include <fmt/format.h>

namespace tilewright {

TaskForm::TaskForm(const isa::Isa &isa, const std::string &name) : instruction_(isa.find(name)) {
  if (!instruction_)
    throw UserError(
        {},
        fmt::format("target '{}' has no instruction '{}', which this model needs", isa.target(),
                    name),
        "keep the instruction in the description, or leave out the overlay that removes it");
  unit_ = &isa.units()[instruction_->unit];
}

TaskForm::Builder::Builder(const TaskForm &form) : form_(form) {
  task_.instruction = form.instruction_->index;
  task_.values.assign(form.instruction_->operands.size(), 0);
  task_.buffers.assign(form.instruction_->operands.size(), -1);
}

int operandNamed(const isa::Instruction &instruction, const char *name) {
  int index = instruction.operandIndex(name);
  if (index < 0)
    throw UserError({},
                    fmt::format("instruction '{}' has no operand '{}', which this model needs",
                                instruction.name, name),
                    "keep the operand in the description");
  return index;
}

TaskForm::Builder &TaskForm::Builder::buffer(const char *operand, int buffer, int64_t address) {
  int index = operandNamed(*form_.instruction_, operand);
  task_.buffers[index] = buffer;
  task_.values[index] = address;
  return *this;
}

TaskForm::Builder &TaskForm::Builder::dram(const char *operand, int64_t address) {
  return imm(operand, address);
}

TaskForm::Builder &TaskForm::Builder::imm(const char *operand, int64_t value) {
  task_.values[operandNamed(*form_.instruction_, operand)] = value;
  return *this;
}

TaskForm::Builder &TaskForm::Builder::reg(const char *name, int64_t value) {
  for (const isa::StateRegister &candidate : form_.unit_->registers) {
    if (candidate.name == name) {
      task_.registers.emplace_back(candidate.index, value);
      return *this;
    }
  }
  throw UserError({},
                  fmt::format("unit '{}' has no register '{}', which this model needs",
                              form_.unit_->name, name),
                  "keep the register in the description");
}

} // namespace tilewright
