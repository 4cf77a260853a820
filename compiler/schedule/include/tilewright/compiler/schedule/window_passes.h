// How the windows of a depthwise convolution go through the array where an instruction slides them
// over activations (tilewright/isa/column_broadcast.h): a pure problem, without IR types.
//
// Outputs that stand side by side share what is read, as far as the cells of a column reach: rows
// of taps lie `period` cells apart, and period - (taps along x) + 1 outputs share a sweep. A pass
// takes so many rows of taps that the cycles of a tile are the fewest.
#pragma once

#include "tilewright/compiler/schedule/window_problem.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace tilewright {

// Greatest operands of the instruction, pairs along y, along x; cells of a column.
struct WindowLimits {
  std::array<int64_t, 2> outputs, taps, strides;
  int64_t period, cells;
};

struct WindowPasses {
  int64_t tapRows; // of a pass; the last one may have fewer
  int64_t outputs; // side by side
  int64_t period;

  int64_t count(const WindowProblem &w) const { return (w.kernelHeight + tapRows - 1) / tapRows; }
  int64_t tapRowsOf(const WindowProblem &w, int64_t pass) const {
    return std::min(tapRows, w.kernelHeight - pass * tapRows);
  }
  // Rows of weights of a pass, the cells between taps among them; of all passes.
  int64_t cells(const WindowProblem &w, int64_t pass) const {
    return (tapRowsOf(w, pass) - 1) * period + w.kernelWidth;
  }
  int64_t cells(const WindowProblem &w) const;
  // Cycles of the array for `rows` rows of outputs.
  int64_t cycles(const WindowProblem &w, int64_t rows) const;
};

// For tiles of so many rows; nothing where the instruction cannot make them.
std::optional<WindowPasses> windowPasses(const WindowProblem &w, const WindowLimits &limits,
                                         int64_t rows);

} // namespace tilewright
