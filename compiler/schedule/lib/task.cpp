#include "tilewright/compiler/task.h"

#include "tilewright/support/error.h"

#include <fmt/format.h>

namespace tilewright {

TaskForm::TaskForm(const isa::Isa &isa, const std::string &name) : instruction_(isa.find(name)) {
  if (!instruction_)
    throw UserError(
        {},
        fmt::format("target '{}' has no instruction '{}', which this model needs", isa.target(),
                    name),
        "keep the instruction in the description, or leave out the overlay that removes it");
  unit_ = &isa.units()[static_cast<size_t>(instruction_->unit)];
  for (const isa::Operand &operand : instruction_->operands)
    operands_.emplace_back(operand.name);
  for (const isa::StateRegister &reg : unit_->registers)
    registers_.emplace_back(reg.name);
}

void TaskForm::hasNoOperand(Name name) const {
  throw UserError({},
                  fmt::format("instruction '{}' has no operand '{}', which this model needs",
                              instruction_->name, name.str()),
                  "keep the operand in the description");
}

void TaskForm::hasNoRegister(Name name) const {
  throw UserError({},
                  fmt::format("unit '{}' has no register '{}', which this model needs", unit_->name,
                              name.str()),
                  "keep the register in the description");
}

} // namespace tilewright
