// A column-broadcast instruction of the matrix unit: windows slide over activations, a channel a
// column (tilewright/isa/column_broadcast.h), with what a depthwise convolution has to say to it.
// No instruction is known by name.
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <optional>

namespace tilewright::patterns {

// Operands by number, registers of the unit by number; pairs along y, along x.
struct ColumnBroadcastPattern {
  const isa::Instruction *instruction = nullptr;
  int activations = -1, sums = -1; // in memory
  std::array<int, 2> outputs, taps, strides;
  int period = -1, columns = -1, swap = -1, accumulate = -1;
  std::array<int, 2> tapRegisters, outputRegisters; // from one to the next in memory
  int zeroPoint = -1;                               // register
};

// The first that there is.
std::optional<ColumnBroadcastPattern> findColumnBroadcast(const isa::Isa &isa);

} // namespace tilewright::patterns
