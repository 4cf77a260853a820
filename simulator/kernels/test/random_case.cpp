#include "random_case.h"

#include "tilewright/isa/extent.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tilewright {

using isa::Expr;
using isa::ExprKind;

int64_t CaseGenerator::between(int64_t least, int64_t greatest) {
  return std::uniform_int_distribution<int64_t>(least, greatest)(random_);
}

int64_t CaseGenerator::value(const isa::Type &type) {
  auto least = static_cast<int64_t>(type.least()), greatest = static_cast<int64_t>(type.greatest());
  switch (between(0, 7)) {
  case 0:
    return least;
  case 1:
    return greatest;
  case 2:
  case 3:
    return std::clamp<int64_t>(between(-2, 2), least, greatest);
  default:
    return between(least, greatest);
  }
}

int64_t CaseGenerator::extent(int64_t greatest) {
  switch (between(0, 9)) {
  case 0:
    return 0;
  case 1:
    return std::min<int64_t>(greatest, between(1, 150));
  case 2:
    return std::min<int64_t>(greatest, 16 * between(1, 5));
  default:
    return std::min<int64_t>(greatest, between(1, 9));
  }
}

int64_t CaseGenerator::stride() {
  switch (between(0, 5)) {
  case 0:
    return 0;
  case 1:
    return 1;
  case 2:
    return between(-300, 300);
  case 3:
    return between(-3, 3);
  default:
    return between(1, 200);
  }
}

namespace {

bool mentions(const Expr &expr, ExprKind kind, int index) {
  if (expr.kind == kind && expr.index == index)
    return true;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const auto &arg) { return mentions(*arg, kind, index); });
}

} // namespace

// Whether an immediate or a register is (part of) an extent or guard: then large values only take
// long.
bool CaseGenerator::isSize(const isa::Instruction &instruction, ExprKind kind, int index) const {
  for (const auto &step : instruction.steps) {
    for (const auto *iterators : {&step.iterators, &step.reductions})
      for (const auto &iterator : *iterators)
        if (mentions(*iterator.extent, kind, index))
          return true;
    if (step.when && mentions(*step.when, kind, index))
      return true;
  }
  return false;
}

bool CaseGenerator::isStride(const isa::Instruction &instruction, int index) const {
  for (const auto &access : instruction.accesses)
    for (const auto &term : access.index.terms)
      if (mentions(*term.coefficient, ExprKind::State, index))
        return true;
  return false;
}

bool CaseGenerator::tryDraw(const isa::Instruction &instruction, MachineState &state, Case &drawn) {
  const auto unit = static_cast<size_t>(instruction.unit);
  for (const auto &reg : isa_.units()[unit].registers) {
    auto &number = state.registers[unit][static_cast<size_t>(reg.index)];
    if (isSize(instruction, ExprKind::State, reg.index))
      number = extent(reg.type.bits > 16 ? 200 : 5);
    else if (isStride(instruction, reg.index))
      number = reg.type.bits == 1 ? between(0, 1) : stride();
    else
      number = value(reg.type);
  }
  drawn.decoded.instruction = instruction.index;
  drawn.decoded.values.assign(instruction.operands.size(), 0);
  drawn.decoded.bases.assign(instruction.operands.size(), 0);
  drawn.addresses.assign(instruction.operands.size(), 0);
  int64_t previous = 0;
  for (const auto &operand : instruction.operands) {
    auto i = static_cast<size_t>(operand.index);
    if (operand.kind == isa::Operand::Kind::Immediate) {
      drawn.decoded.values[i] = isSize(instruction, ExprKind::Immediate, operand.index)
                                    ? std::max(operand.least, extent(operand.greatest))
                                    : value(operand.type);
      continue;
    }
    const auto &memory = isa_.memory(operand.space);
    auto addresses = operand.space == isa::Space::Dram ? static_cast<int64_t>(state.dramBytes)
                                                       : static_cast<int64_t>(memory.addresses());
    // In place now and then; at the edges now and then.
    int64_t address = between(0, addresses - 1);
    if (between(0, 3) == 0)
      address = previous;
    else if (between(0, 7) == 0)
      address = between(0, 1) ? 0 : std::max<int64_t>(0, addresses - between(1, 64));
    drawn.addresses[i] = previous = address;
  }
  isa::ScalarContext context;
  context.immediates = drawn.decoded.values.data();
  for (const auto &require : instruction.requires_)
    if (isa::evaluate(*require.expr, context) == 0)
      return false;
  const int64_t *registers = state.registers[unit].data();
  if (!isa::trapReason(instruction, isa_, drawn.decoded, registers, drawn.addresses.data()).empty())
    return false;
  auto ranges =
      isa::operandRanges(instruction, isa_, drawn.decoded, registers, drawn.addresses.data());
  for (const auto &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram &&
        ranges[static_cast<size_t>(operand.index)].end > static_cast<int64_t>(state.dramBytes))
      return false;
  return true;
}

void CaseGenerator::drawContents(const isa::Instruction &instruction, MachineState &state,
                                 std::vector<uint8_t> &dram) {
  // Corner values here and there, or nothing else: only then do those of several operands meet.
  const int64_t apart = between(0, 2) == 0 ? 1 : 16;
  auto fill = [&](uint8_t *bytes, size_t size) {
    uint64_t word = 0;
    for (size_t i = 0; i < size; ++i, word >>= 8) {
      if (i % 8 == 0)
        word = random_();
      bytes[i] = static_cast<uint8_t>(word);
    }
    for (size_t i = 0; i + 4 <= size; i += 4 * static_cast<size_t>(between(1, apart))) {
      auto corner = static_cast<int32_t>(value({true, 32}));
      std::memcpy(bytes + i, &corner, 4);
    }
  };
  fill(state.spad.data(), state.spad.size());
  fill(reinterpret_cast<uint8_t *>(state.acc.data()), 4 * state.acc.size());
  fill(dram.data(), dram.size());
  const auto unit = static_cast<size_t>(instruction.unit);
  for (const auto &array : isa_.units()[unit].arrays) {
    auto &bytes = state.arrays[unit][static_cast<size_t>(array.index)];
    auto size = static_cast<size_t>(array.storageBytes());
    for (size_t at = 0; at < bytes.size(); at += size) {
      int64_t element = value(array.type);
      std::memcpy(&bytes[at], &element, size);
    }
  }
}

CaseGenerator::Case CaseGenerator::draw(const isa::Instruction &instruction, MachineState &state,
                                        std::vector<uint8_t> &dram) {
  state.dram = dram.data();
  state.dramBytes = dram.size();
  Case drawn;
  for (int tries = 0; tries < 100000; ++tries)
    if (tryDraw(instruction, state, drawn)) {
      drawContents(instruction, state, dram);
      return drawn;
    }
  throw std::runtime_error("no executable '" + instruction.name + "' in 100000 draws");
}

} // namespace tilewright
