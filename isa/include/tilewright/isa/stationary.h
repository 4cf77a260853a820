// An output-stationary contraction: activations and weights stream through the array.
//
//   result[pixel.., j] = sum over tap.., i of a[pixel.. + tap.. + i] * w[tap.. + i * s + j]
//
// A cell keeps the sum of one pixel and one column. The array takes pixels in blocks of as many as
// it has rows, and goes through the reduction in chunks of as many activations of a tap.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::isa {

// Accesses by their place in Instruction::accesses. The last spatial iterator is the column, the
// last one of the reduction counts activations that stand side by side.
struct StationarySums {
  size_t activations = 0, weights = 0;
};

// Nothing where a step does not read two operands in its reduction. Throws UserError where it does
// and the array cannot make it.
std::optional<StationarySums> stationarySums(const Instruction &instruction);

} // namespace tilewright::isa
