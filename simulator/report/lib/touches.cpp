#include "touches.h"

#include <algorithm>

namespace tilewright::report {

TouchReader::TouchReader(const Program &program, const isa::Isa &isa)
    : isa_(isa), program_(program),
      decoded_(program.code.size() / static_cast<size_t>(isa.instructionBytes())),
      known_(decoded_.size()), base_(static_cast<size_t>(isa.param("base_registers"))) {
  std::string reason;
  for (size_t pc = 0; pc < decoded_.size(); ++pc)
    known_[pc] = isa.decode(reinterpret_cast<const uint8_t *>(program.code.data()) +
                                pc * static_cast<size_t>(isa.instructionBytes()),
                            decoded_[pc], reason);
  for (const isa::Unit &unit : isa.units()) {
    registers_.emplace_back();
    for (const isa::StateRegister &each : unit.registers)
      registers_.back().push_back(each.reset);
  }
}

// As the units do it: the value wraps to the register's type.
void TouchReader::setRegisters(const isa::Instruction &instruction,
                               const isa::DecodedInstruction &decoded) {
  const isa::Unit &unit = isa_.units()[static_cast<size_t>(instruction.unit)];
  for (const auto &[number, value] : instruction.sets) {
    const auto index = static_cast<size_t>(decoded.values[static_cast<size_t>(number)]);
    const isa::Type type = unit.registers[index].type;
    const uint64_t mask = type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << type.bits) - 1;
    uint64_t bits = static_cast<uint64_t>(decoded.values[static_cast<size_t>(value)]) & mask;
    if (type.isSigned && (bits >> (type.bits - 1)) != 0)
      bits |= ~mask;
    registers_[static_cast<size_t>(instruction.unit)][index] = static_cast<int64_t>(bits);
  }
}

const std::vector<Touch> &TouchReader::next(const InstructionRecord &record) {
  touches_.clear();
  if (record.pc >= decoded_.size() || !known_[record.pc])
    return touches_;
  const isa::DecodedInstruction &decoded = decoded_[record.pc];
  const isa::Instruction &instruction =
      isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  if (instruction.control == isa::Control::SetBase) {
    isa::ScalarContext context;
    context.immediates = decoded.values.data();
    context.base = base_.data();
    const int rd = instruction.operandIndex("rd");
    const int64_t target = rd >= 0 ? decoded.values[static_cast<size_t>(rd)] : 0;
    if (target != 0)
      base_[static_cast<size_t>(target)] = isa::evaluate(*instruction.controlValue, context);
    return touches_;
  }
  setRegisters(instruction, decoded);
  if (instruction.accesses.empty())
    return touches_;
  addresses_.assign(instruction.operands.size(), 0);
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    if (instruction.operands[i].kind == isa::Operand::Kind::Memory)
      addresses_[i] = decoded.values[i] + base_[decoded.bases[i]];
  ranges_.assign(instruction.operands.size(), {});
  isa::operandRanges(instruction, isa_, decoded,
                     registers_[static_cast<size_t>(instruction.unit)].data(), addresses_.data(),
                     ranges_.data());
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const isa::Operand &operand = instruction.operands[i];
    if (operand.kind != isa::Operand::Kind::Memory || ranges_[i].empty())
      continue;
    const auto bytes = static_cast<int64_t>(
        operand.space == isa::Space::Dram ? program_.dramBytes : isa_.memory(operand.space).bytes);
    if (ranges_[i].begin >= 0 && ranges_[i].end <= bytes)
      touches_.push_back({operand.space, ranges_[i], operand.access});
  }
  return touches_;
}

} // namespace tilewright::report
