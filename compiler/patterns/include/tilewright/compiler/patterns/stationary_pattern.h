// An output-stationary instruction of the matrix unit: activations and weights
// stream (tilewright/isa/stationary.h), with what a convolution or a matrix product has to say to
// it. No instruction is known by name.
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <optional>

namespace tilewright::patterns {

// Operands by number, registers of the unit by number; pairs along y, along x.
struct StationaryPattern {
  const isa::Instruction *instruction = nullptr;
  int activations = -1, weights = -1, sums = -1; // in memory
  std::array<int, 2> outputs;                    // immediates
  int columns = -1;                              // immediate
  std::array<int, 2> taps;                       // registers: extents
  int depth = -1;
  // Registers: from one to the next in memory.
  std::array<int, 2> pixelStrides, sumStrides, tapStrides, weightTapStrides;
  int weightStride = -1;
  int activationZeroPoint = -1, weightZeroPoint = -1; // registers
};

// The first that there is.
std::optional<StationaryPattern> findStationary(const isa::Isa &isa);

} // namespace tilewright::patterns
