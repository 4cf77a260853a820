// Words to bits and back.
#include "tilewright/isa/isa.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

static void putBits(Bits &bits, int low, int width, uint64_t value) {
  for (int i = 0; i < width;) {
    int bit = low + i, within = bit % 8, count = std::min(8 - within, width - i);
    uint64_t part = (value >> i) & ((uint64_t(1) << count) - 1);
    bits[static_cast<size_t>(bit / 8)] |= static_cast<uint8_t>(part << within);
    i += count;
  }
}

static uint64_t getBits(const uint8_t *bits, int low, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width;) {
    int bit = low + i, within = bit % 8, count = std::min(8 - within, width - i);
    uint64_t part = (static_cast<uint64_t>(bits[bit / 8]) >> within) & ((uint64_t(1) << count) - 1);
    value |= part << i;
    i += count;
  }
  return value;
}

// The first `require` that does not hold, or null.
static const Require *violated(const Instruction &instruction, const Word &word) {
  ScalarContext context;
  context.immediates = word.values.data();
  for (const Require &require : instruction.requires_)
    if (evaluate(*require.expr, context) == 0)
      return &require;
  return nullptr;
}

Bits Isa::encode(const Word &word) const {
  const Instruction &instruction = instructions_.at(static_cast<size_t>(word.instruction));
  auto fail = [&](const std::string &message) -> void {
    throw UserError({"", 0, 0, fmt::format("instruction '{}'", instruction.name)}, message);
  };
  if (word.values.size() != instruction.operands.size())
    throw std::logic_error("a word needs a value for each operand of its instruction");
  Bits bits(static_cast<size_t>(instructionBytes()), 0);
  putBits(bits, instruction.op.low, instruction.op.width,
          static_cast<uint64_t>(instruction.opcode));
  const std::pair<const char *, std::pair<HeaderField, uint32_t>> masks[] = {
      {"wait", {instruction.wait, word.wait}}, {"signal", {instruction.signal, word.signal}}};
  for (const auto &[name, mask] : masks) {
    const auto &[field, value] = mask;
    if (field.width < 32 && value >> field.width != 0)
      fail(fmt::format("the {} mask {:#x} names a semaphore beyond {}", name, value,
                       field.width - 1));
    putBits(bits, field.low, field.width, value);
  }
  for (const Operand &operand : instruction.operands) {
    auto index = static_cast<size_t>(operand.index);
    int64_t value = word.values[index];
    if (value < operand.least || value > operand.greatest)
      fail(fmt::format("'{}' is {}, not within {}..{}", operand.name, value, operand.least,
                       operand.greatest));
    putBits(bits, operand.low, operand.width, static_cast<uint64_t>(value));
    if (operand.kind != Operand::Kind::Memory)
      continue;
    unsigned base = index < word.bases.size() ? word.bases[index] : 0;
    if (base >> operand.baseWidth != 0)
      fail(fmt::format("the base register x{} of '{}' does not exist: there are {}", base,
                       operand.name, 1 << operand.baseWidth));
    putBits(bits, operand.baseLow, operand.baseWidth, base);
  }
  if (const Require *require = violated(instruction, word))
    fail(fmt::format("{} does not hold: {}", require->label, require->text));
  return bits;
}

bool Isa::decode(const uint8_t *bits, Word &word, std::string &reason) const {
  uint64_t opcode = getBits(bits, 0, opcodeBits_);
  int index = byOpcode_[opcode];
  if (index < 0) {
    reason = fmt::format("reserved opcode {:#04x}", opcode);
    return false;
  }
  const Instruction &instruction = instructions_[static_cast<size_t>(index)];
  word.instruction = index;
  word.wait = static_cast<uint32_t>(getBits(bits, instruction.wait.low, instruction.wait.width));
  word.signal =
      static_cast<uint32_t>(getBits(bits, instruction.signal.low, instruction.signal.width));
  word.values.assign(instruction.operands.size(), 0);
  word.bases.assign(instruction.operands.size(), 0);
  for (const Operand &operand : instruction.operands) {
    uint64_t field = getBits(bits, operand.low, operand.width);
    bool negative = operand.kind == Operand::Kind::Immediate && operand.type.isSigned &&
                    field >> (operand.width - 1) != 0;
    auto value = static_cast<int64_t>(negative ? field | ~uint64_t(0) << operand.width : field);
    if (value < operand.least || value > operand.greatest) {
      reason = fmt::format("'{}' of '{}' is {}, not within {}..{}", operand.name, instruction.name,
                           value, operand.least, operand.greatest);
      return false;
    }
    word.values[static_cast<size_t>(operand.index)] = value;
    if (operand.kind == Operand::Kind::Memory)
      word.bases[static_cast<size_t>(operand.index)] =
          static_cast<uint8_t>(getBits(bits, operand.baseLow, operand.baseWidth));
  }
  int end = 8 * instructionBytes();
  for (int at = instruction.usedBits; at < end; at += 32)
    if (getBits(bits, at, std::min(32, end - at)) != 0) {
      reason = fmt::format("bits {} to {} of '{}' are reserved and not zero", instruction.usedBits,
                           end - 1, instruction.name);
      return false;
    }
  if (const Require *require = violated(instruction, word)) {
    reason = fmt::format("{} of '{}' does not hold: {}", require->label, instruction.name,
                         require->text);
    return false;
  }
  return true;
}

} // namespace tilewright::isa
