// Decoded instructions to bits and back.
#include "tilewright/isa/isa.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::isa {

// The bits of an instruction, padded behind them: fields are read and written eight bytes at a
// time (little-endian host).
namespace {
class Field {
public:
  Field(int low, int width)
      : byte_(static_cast<size_t>(low / 8)), shift_(low % 8),
        mask_(width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1) {}
  uint64_t get(const uint8_t *bits) const {
    const unsigned __int128 both = load(bits);
    return static_cast<uint64_t>(both >> shift_) & mask_;
  }
  // The field is zero before.
  void put(uint8_t *bits, uint64_t value) const {
    const unsigned __int128 both = load(bits) | static_cast<unsigned __int128>(value & mask_)
                                                    << shift_;
    std::memcpy(bits + byte_, &both, reach);
  }

private:
  static constexpr size_t reach = 9; // bytes that 64 bits may stand in
  unsigned __int128 load(const uint8_t *bits) const {
    unsigned __int128 both = 0;
    std::memcpy(&both, bits + byte_, reach);
    return both;
  }
  size_t byte_;
  int shift_;
  uint64_t mask_;
};
} // namespace

static constexpr size_t padding = 16; // behind the bits

// The first `require` that does not hold, or null.
static const Require *violated(const Instruction &instruction, const DecodedInstruction &decoded) {
  ScalarContext context;
  context.immediates = decoded.values.data();
  for (const Require &require : instruction.requires_)
    if (evaluate(*require.expr, context) == 0)
      return &require;
  return nullptr;
}

Bits Isa::encode(const DecodedInstruction &decoded) const {
  const Instruction &instruction = instructions_.at(static_cast<size_t>(decoded.instruction));
  auto fail = [&](const std::string &message) -> void {
    throw UserError({"", 0, 0, fmt::format("instruction '{}'", instruction.name)}, message);
  };
  if (decoded.values.size() != instruction.operands.size())
    throw std::logic_error("a decoded instruction needs a value for each operand");
  Bits bits(static_cast<size_t>(instructionBytes()) + padding, 0);
  auto put = [&](int low, int width, uint64_t value) { Field(low, width).put(bits.data(), value); };
  put(instruction.op.low, instruction.op.width, static_cast<uint64_t>(instruction.opcode));
  const std::pair<const char *, std::pair<HeaderField, uint32_t>> masks[] = {
      {"wait", {instruction.wait, decoded.wait}}, {"signal", {instruction.signal, decoded.signal}}};
  for (const auto &[name, mask] : masks) {
    const auto &[field, value] = mask;
    if (field.width < 32 && value >> field.width != 0)
      fail(fmt::format("the {} mask {:#x} names a semaphore beyond {}", name, value,
                       field.width - 1));
    put(field.low, field.width, value);
  }
  for (const Operand &operand : instruction.operands) {
    auto index = static_cast<size_t>(operand.index);
    int64_t value = decoded.values[index];
    if (value < operand.least || value > operand.greatest)
      fail(fmt::format("'{}' is {}, not within {}..{}", operand.name, value, operand.least,
                       operand.greatest));
    put(operand.low, operand.width, static_cast<uint64_t>(value));
    if (operand.kind != Operand::Kind::Memory)
      continue;
    unsigned base = index < decoded.bases.size() ? decoded.bases[index] : 0;
    if (base >> operand.baseWidth != 0)
      fail(fmt::format("the base register x{} of '{}' does not exist: there are {}", base,
                       operand.name, 1 << operand.baseWidth));
    put(operand.baseLow, operand.baseWidth, base);
  }
  if (const Require *require = violated(instruction, decoded))
    fail(fmt::format("{} does not hold: {}", require->label, require->text));
  bits.resize(static_cast<size_t>(instructionBytes()));
  return bits;
}

bool Isa::decode(const uint8_t *bits, DecodedInstruction &decoded, std::string &reason) const {
  std::array<uint8_t, limits::instructionBytes.count() + padding> own;
  const auto size = static_cast<size_t>(instructionBytes_);
  std::memcpy(own.data(), bits, size);
  std::memset(own.data() + size, 0, padding);
  auto get = [&](int low, int width) { return Field(low, width).get(own.data()); };
  const uint64_t opcode = get(0, opcodeBits_);
  int index = byOpcode_[opcode];
  if (index < 0) {
    reason = fmt::format("reserved opcode {:#04x}", opcode);
    return false;
  }
  const Instruction &instruction = instructions_[static_cast<size_t>(index)];
  decoded.instruction = index;
  decoded.wait = static_cast<uint32_t>(get(instruction.wait.low, instruction.wait.width));
  decoded.signal = static_cast<uint32_t>(get(instruction.signal.low, instruction.signal.width));
  decoded.values.assign(instruction.operands.size(), 0);
  decoded.bases.assign(instruction.operands.size(), 0);
  for (const Operand &operand : instruction.operands) {
    uint64_t field = get(operand.low, operand.width);
    bool negative = operand.kind == Operand::Kind::Immediate && operand.type.isSigned &&
                    field >> (operand.width - 1) != 0;
    auto value = static_cast<int64_t>(negative ? field | ~uint64_t(0) << operand.width : field);
    if (value < operand.least || value > operand.greatest) {
      reason = fmt::format("'{}' of '{}' is {}, not within {}..{}", operand.name, instruction.name,
                           value, operand.least, operand.greatest);
      return false;
    }
    decoded.values[static_cast<size_t>(operand.index)] = value;
    if (operand.kind == Operand::Kind::Memory)
      decoded.bases[static_cast<size_t>(operand.index)] =
          static_cast<uint8_t>(get(operand.baseLow, operand.baseWidth));
  }
  int end = 8 * instructionBytes();
  for (int at = instruction.usedBits; at < end; at += 32)
    if (get(at, std::min(32, end - at)) != 0) {
      reason = fmt::format("bits {} to {} of '{}' are reserved and not zero", instruction.usedBits,
                           end - 1, instruction.name);
      return false;
    }
  if (const Require *require = violated(instruction, decoded)) {
    reason = fmt::format("{} of '{}' does not hold: {}", require->label, instruction.name,
                         require->text);
    return false;
  }
  return true;
}

} // namespace tilewright::isa
