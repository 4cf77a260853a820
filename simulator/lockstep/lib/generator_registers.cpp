// Registers of units and base registers.
#include "generator.h"

#include <algorithm>
#include <cstdlib>

namespace tilewright::lockstep {

std::optional<isa::DecodedInstruction> Generator::idle(int unit) const {
  if (unit == 0)
    return control_.idle ? std::optional(blank(*control_.idle)) : std::nullopt;
  const isa::Instruction *set = setOf(unit);
  return set != nullptr ? std::optional(keeping(*set)) : std::nullopt;
}

void Generator::anySet(std::vector<isa::DecodedInstruction> &words, bool keep) {
  if (!sets_.empty())
    words.push_back(
        setOf(*sets_[static_cast<size_t>(below(static_cast<int64_t>(sets_.size())))], keep));
}

isa::DecodedInstruction Generator::setOf(const isa::Instruction &instruction, bool keep) {
  const isa::Unit &unit = isa_.units()[static_cast<size_t>(instruction.unit)];
  isa::DecodedInstruction decoded = blank(instruction);
  for (const auto &[number, operand] : instruction.sets) {
    const auto index = static_cast<size_t>(below(static_cast<int64_t>(unit.registers.size())));
    const isa::StateRegister &reg = unit.registers[index];
    int64_t &current = registers_[static_cast<size_t>(instruction.unit)][index];
    if (!keep)
      current = registerValue(reg);
    decoded.values[static_cast<size_t>(number)] = static_cast<int64_t>(index);
    decoded.values[static_cast<size_t>(operand)] = current;
  }
  synchronize(decoded, instruction.unit);
  return decoded;
}

int64_t Generator::registerValue(const isa::StateRegister &reg) {
  const int64_t least = static_cast<int64_t>(reg.type.least()),
                greatest = static_cast<int64_t>(reg.type.greatest());
  if (below(40) == 0)
    return below(2) == 0 ? least : greatest;
  if (reg.type.bits >= 16 && !reg.type.isSigned) // an extent
    return std::clamp(below(5), least, greatest);
  static const int64_t strides[] = {0, 1, 1, 2, 3, 16, 16, 17, 20, 64, 256, -1, -16};
  return std::clamp(strides[below(13)], least, greatest);
}

void Generator::nest(const isa::Instruction &instruction, const isa::DecodedInstruction &decoded,
                     std::vector<isa::DecodedInstruction> &words) {
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (!access.write)
      continue;
    const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
    isa::ScalarContext context;
    context.immediates = decoded.values.data();
    context.state = registers_[static_cast<size_t>(instruction.unit)].data();
    int64_t span = 1;
    for (size_t i = step.iterators.size(); i-- > 0;) {
      const int64_t extent =
          std::clamp<int64_t>(isa::evaluate(*step.iterators[i].extent, context), 1, 100000);
      for (const isa::AffineTerm &term : access.index.terms) {
        if (term.iterator != static_cast<int>(i))
          continue;
        if (term.coefficient->kind == isa::ExprKind::State)
          words.push_back(setOne(instruction.unit, term.coefficient->index,
                                 (below(6) == 0 ? -1 : 1) * (span + below(3))));
        span = std::abs(isa::evaluate(*term.coefficient, context)) * extent;
      }
    }
  }
}

isa::DecodedInstruction Generator::setOne(int unit, int index, int64_t given) {
  const auto at = static_cast<size_t>(index);
  const isa::Type &type = isa_.units()[static_cast<size_t>(unit)].registers[at].type;
  int64_t &current = registers_[static_cast<size_t>(unit)][at];
  current =
      std::clamp(given, static_cast<int64_t>(type.least()), static_cast<int64_t>(type.greatest()));
  isa::DecodedInstruction decoded = blank(*setOf(unit));
  for (const auto &[number, value] : setOf(unit)->sets) {
    decoded.values[static_cast<size_t>(number)] = index;
    decoded.values[static_cast<size_t>(value)] = current;
  }
  return decoded;
}

const isa::Instruction *Generator::setOf(int unit) const {
  for (const isa::Instruction *set : sets_)
    if (set->unit == unit)
      return set;
  return nullptr;
}

void Generator::setBase(std::vector<isa::DecodedInstruction> &words) {
  if (inBody_)
    return;
  const auto reg = static_cast<size_t>(below(static_cast<int64_t>(base_.size())));
  const isa::Instruction *drawn = below(2) == 0 ? control_.add : control_.set;
  if (drawn == nullptr)
    return;
  const isa::Instruction &instruction = *drawn;
  isa::DecodedInstruction decoded = blank(instruction);
  const isa::Operand &field =
      instruction.operands[static_cast<size_t>(instruction.operandIndex("value"))];
  const int64_t given = below(8) == 0 ? value(field.least, field.greatest) : value(-2000, 5000);
  operand(decoded, instruction, "rd") = static_cast<int64_t>(reg);
  operand(decoded, instruction, "value") = given;
  if (drawn == control_.add)
    operand(decoded, instruction, "rs") = below(static_cast<int64_t>(base_.size()));
  isa::ScalarContext context;
  context.immediates = decoded.values.data();
  context.base = base_.data();
  if (reg != 0)
    base_[reg] = isa::evaluate(*instruction.controlValue, context);
  synchronize(decoded, 0);
  words.push_back(decoded);
}

isa::DecodedInstruction Generator::keeping(const isa::Instruction &set) const {
  isa::DecodedInstruction decoded = blank(set);
  for (const auto &[number, given] : set.sets) {
    decoded.values[static_cast<size_t>(number)] = 0;
    decoded.values[static_cast<size_t>(given)] = registers_[static_cast<size_t>(set.unit)][0];
  }
  return decoded;
}

} // namespace tilewright::lockstep
