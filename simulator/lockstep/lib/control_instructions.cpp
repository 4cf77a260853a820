#include "control_instructions.h"

namespace tilewright::lockstep {

namespace {

using isa::Instruction;

// An operand and the values of it that programs use.
struct Field {
  const char *name;
  int64_t least, greatest;
};

bool hasOnly(const Instruction &instruction, const std::vector<Field> &fields) {
  if (instruction.operands.size() != fields.size())
    return false;
  for (const Field &field : fields) {
    const int index = instruction.operandIndex(field.name);
    if (index < 0)
      return false;
    const isa::Operand &operand = instruction.operands[static_cast<size_t>(index)];
    if (operand.least > field.least || operand.greatest < field.greatest)
      return false;
  }
  return true;
}

// Its value with these operands, where base register 1 holds 5 and all others 0.
int64_t valueOf(const isa::Isa &isa, const Instruction &instruction,
                const std::vector<std::pair<const char *, int64_t>> &given) {
  std::vector<int64_t> operands(instruction.operands.size(), 0),
      base(static_cast<size_t>(isa.param("base_registers")), 0);
  base[1] = 5;
  for (const auto &[name, value] : given)
    operands[static_cast<size_t>(instruction.operandIndex(name))] = value;
  isa::ScalarContext context;
  context.immediates = operands.data();
  context.base = base.data();
  return isa::evaluate(*instruction.controlValue, context);
}

bool isSet(const isa::Isa &isa, const Instruction &instruction) {
  return valueOf(isa, instruction, {{"value", 7}}) == 7 &&
         valueOf(isa, instruction, {{"rd", 1}, {"value", 7}}) == 7;
}

bool isAdd(const isa::Isa &isa, const Instruction &instruction) {
  return valueOf(isa, instruction, {{"value", 7}}) == 7 &&
         valueOf(isa, instruction, {{"rs", 1}, {"value", -7}}) == -2;
}

bool isBranch(const isa::Isa &isa, const Instruction &instruction) {
  for (const int64_t rs : {0, 1})
    for (const int64_t negate : {0, 1})
      if ((valueOf(isa, instruction, {{"rs", rs}, {"negate", negate}}) != 0) !=
          ((rs == 0) != (negate == 1)))
        return false;
  return true;
}

} // namespace

ControlInstructions::ControlInstructions(const isa::Isa &isa) {
  const int64_t lastBase = isa.param("base_registers") - 1;
  const std::vector<Field> ofSet = {{"rd", 0, lastBase}, {"value", -2000, 5000}},
                           ofAdd = {{"rd", 0, lastBase},
                                    {"rs", 0, lastBase},
                                    {"value", -2000, 5000}},
                           ofLoop = {{"count", 0, 1023}, {"length", 1, 1023}},
                           ofStep = {{"count", 0, 1023}, {"length", 1, 1023}, {"r0", 0, lastBase},
                                     {"step0", -99, 99}, {"r1", 0, lastBase}, {"step1", -99, 99}},
                           ofBranch = {
                               {"rs", 0, lastBase}, {"negate", 0, 1}, {"offset", -1023, 1023}};
  for (const Instruction &instruction : isa.instructions()) {
    auto take = [&](const Instruction *&role, bool fits) {
      if (role == nullptr && fits)
        role = &instruction;
    };
    switch (instruction.control) {
    case isa::Control::Halt:
      take(halt, true);
      break;
    case isa::Control::Fence:
      take(fence, hasOnly(instruction, {}));
      break;
    case isa::Control::SetBase:
      take(set, hasOnly(instruction, ofSet) && isSet(isa, instruction));
      take(add, hasOnly(instruction, ofAdd) && isAdd(isa, instruction));
      break;
    case isa::Control::Loop:
      take(loop, hasOnly(instruction, ofLoop));
      take(step, hasOnly(instruction, ofStep));
      break;
    case isa::Control::Branch:
      take(branch, hasOnly(instruction, ofBranch) && isBranch(isa, instruction));
      break;
    case isa::Control::None:
      break;
    }
  }
  idle = set != nullptr ? set : add != nullptr ? add : fence;
}

} // namespace tilewright::lockstep
