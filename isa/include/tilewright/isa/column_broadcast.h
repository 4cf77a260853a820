// A column-broadcast contraction: each column has activations of its own, and a window slides over
// them.
//
//   result[y, x, j] = sum over v, u of a[(y * stride1 + v) * s1 + (x * stride0 + u) * s0 + j]
//                                      * weights[v * period + u, j]
//
// The array reads the activations sweep by sweep (one value of y * stride1 + v each), a row of `n`
// elements a cycle, `period` cycles a sweep, and every cell of a column meets them at the same
// time. Sums go down a cell a cycle: the sum that begins with activation (y, x) is in cell
// v * period + u when activation (y + v, x + u) is there. Cells between the taps add nothing.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::isa {

// Each pair: along the sweeps (y, v), within a sweep (x, u).
struct ColumnBroadcast {
  std::array<ExprPtr, 2> outputs, taps; // extents
  std::array<ExprPtr, 2> strides;       // activations from one output to the next
  ExprPtr period;                       // cells from a tap of a sweep to that of the next
};

// Its iterators.
enum BroadcastIterator { BroadcastY, BroadcastX, BroadcastColumn, BroadcastV, BroadcastU };

// Nothing where the activations of a step are the same for every column. Throws UserError where
// they are not and the array cannot make it, `requires` included: taps fit into the cells of a
// column, and a sweep into its period.
std::optional<ColumnBroadcast> columnBroadcast(const Instruction &instruction, const Isa &isa);

} // namespace tilewright::isa
