// Operands anywhere, and whether they may be.
#include "generator.h"

#include "tilewright/isa/extent.h"
#include "tilewright/support/error.h"

#include <algorithm>

namespace tilewright::lockstep {

int64_t Generator::value(int64_t least, int64_t greatest) {
  if (greatest - least < 16)
    return least + below(greatest - least + 1);
  switch (below(8)) {
  case 0:
    return greatest;
  case 1:
    return least;
  case 2:
  case 3: {
    const int64_t bits = 1 + below(16);
    return std::clamp(below(int64_t(1) << bits), least, greatest);
  }
  default:
    if (spread_ < 20) // what is left after many tries fits only when it is small, but not nothing
      return std::clamp(1 + below(spread_), least, greatest);
    return std::clamp(below(spread_) - (least < 0 ? 4 : 0), least, greatest);
  }
}

isa::DecodedInstruction Generator::blank(const isa::Instruction &instruction) const {
  isa::DecodedInstruction decoded;
  decoded.instruction = instruction.index;
  decoded.values.assign(instruction.operands.size(), 0);
  decoded.bases.assign(instruction.operands.size(), 0);
  return decoded;
}

bool Generator::encodes(const isa::DecodedInstruction &decoded) const {
  try {
    isa_.encode(decoded);
    return true;
  } catch (const UserError &) {
    return false;
  }
}

bool Generator::touches(const isa::Instruction &instruction,
                        const isa::DecodedInstruction &decoded) const {
  if (!encodes(decoded))
    return false;
  for (const isa::Range &range : isa::operandRanges(
           instruction, isa_, decoded, registers_[static_cast<size_t>(instruction.unit)].data(),
           addresses_.data()))
    if (!range.empty())
      return true;
  return false;
}

void Generator::draw(const isa::Instruction &instruction, isa::DecodedInstruction &decoded) {
  decoded = blank(instruction);
  std::vector<int64_t> &addresses = addresses_;
  addresses.assign(instruction.operands.size(), 0);
  for (const isa::Operand &operand : instruction.operands) {
    const auto i = static_cast<size_t>(operand.index);
    if (operand.kind == isa::Operand::Kind::Immediate) {
      decoded.values[i] = value(operand.least, operand.greatest);
      continue;
    }
    const isa::Memory &memory = isa_.memory(operand.space);
    const int64_t size =
        operand.space == isa::Space::Dram ? 65536 : static_cast<int64_t>(memory.addresses());
    // Often near a bank boundary, or where others are: conflicts are what is looked for.
    const int64_t bank = static_cast<int64_t>(memory.bankBytes()) / memory.addressBytes;
    const int64_t boundary = below(2) == 0 ? bank : bank * (1 + below(memory.banks));
    int64_t &before = recent_[static_cast<size_t>(operand.space)];
    const bool onChip = operand.space != isa::Space::Dram;
    addresses[i] =
        onChip && below(3) == 0   ? std::clamp<int64_t>(boundary - 8 + below(16), 0, size - 1)
        : onChip && below(3) == 0 ? std::min(before / bank * bank + below(bank), size - 1)
        : below(2) == 0           ? below(std::min<int64_t>(size, 4096))
                                  : below(size);
    before = addresses[i];
    decoded.values[i] = addresses[i];
    if (!straight_ && operand.baseWidth > 0 && below(4) == 0) {
      const auto reg = static_cast<uint8_t>(1 + below(static_cast<int64_t>(base_.size()) - 1));
      const int64_t offset = addresses[i] - base_[reg];
      if (offset >= operand.least && offset <= operand.greatest) {
        decoded.bases[i] = reg;
        decoded.values[i] = offset;
      }
    }
  }
}

// In runs of the loop around that steps base registers, behind the first one.
bool Generator::trapsLater(const isa::Instruction &instruction,
                           const isa::DecodedInstruction &decoded) const {
  if (steps_.empty())
    return false;
  const int64_t *registers = registers_[static_cast<size_t>(instruction.unit)].data();
  std::vector<int64_t> addresses = addresses_;
  for (int64_t run = 1; run < runs_; ++run) {
    for (size_t i = 0; i < addresses.size(); ++i)
      addresses[i] += steps_[decoded.bases[i]];
    if (!isa::trapReason(instruction, isa_, decoded, registers, addresses.data()).empty())
      return true;
  }
  return false;
}

bool Generator::accept(const isa::Instruction &instruction, isa::DecodedInstruction &decoded,
                       bool isMeantLong) {
  const int64_t *registers = registers_[static_cast<size_t>(instruction.unit)].data();
  if (!encodes(decoded) ||
      !isa::trapReason(instruction, isa_, decoded, registers, addresses_.data()).empty() ||
      trapsLater(instruction, decoded))
    return false;
  // Long ones would hide the rest.
  const bool isLong = isMeantLong || (mayBeLong_ && below(200) == 0);
  for (const isa::Range &range :
       isa::operandRanges(instruction, isa_, decoded, registers, addresses_.data()))
    if (range.end - range.begin > 6000 && !isLong)
      return false;
  for (const isa::Step &step : instruction.steps) {
    isa::ScalarContext context;
    context.immediates = decoded.values.data();
    context.state = registers;
    int64_t elements = 1;
    for (const isa::Iterator &iterator : step.iterators)
      elements *= std::max<int64_t>(isa::evaluate(*iterator.extent, context), 0);
    for (const isa::Iterator &iterator : step.reductions)
      elements *= std::max<int64_t>(isa::evaluate(*iterator.extent, context), 1);
    if (elements > (isMeantLong ? 100000 : isLong ? 40000 : 4000))
      return false;
  }
  synchronize(decoded, instruction.unit);
  lastIsLong_ = isLong;
  return true;
}

void Generator::moveToEnd(const isa::Instruction &instruction, isa::DecodedInstruction &decoded) {
  std::vector<size_t> onChip;
  for (const isa::Operand &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory && operand.space != isa::Space::Dram)
      onChip.push_back(static_cast<size_t>(operand.index));
  if (onChip.empty() || !encodes(decoded))
    return;
  const size_t i = onChip[static_cast<size_t>(below(static_cast<int64_t>(onChip.size())))];
  const isa::Operand &operand = instruction.operands[i];
  const isa::Memory &memory = isa_.memory(operand.space);
  const isa::Range range = isa::operandRanges(
      instruction, isa_, decoded, registers_[static_cast<size_t>(instruction.unit)].data(),
      addresses_.data())[i];
  const int64_t bank = below(memory.banks) * static_cast<int64_t>(memory.bankBytes());
  const int64_t ends[] = {-range.begin, static_cast<int64_t>(memory.bytes) - range.end,
                          bank - range.begin, bank - range.end};
  const int64_t moved = ends[below(4)] / memory.addressBytes;
  decoded.values[i] += moved;
  addresses_[i] += moved;
}

} // namespace tilewright::lockstep
