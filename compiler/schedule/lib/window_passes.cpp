#include "tilewright/compiler/schedule/window_passes.h"

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t WindowPasses::cells(const WindowProblem &w) const {
  int64_t all = 0;
  for (int64_t pass = 0; pass < count(w); ++pass)
    all += cells(w, pass);
  return all;
}

int64_t WindowPasses::cycles(const WindowProblem &w, int64_t rows) const {
  int64_t sweeps = 0;
  for (int64_t pass = 0; pass < count(w); ++pass)
    sweeps += (rows - 1) * w.strideY + tapRowsOf(w, pass);
  return sweeps * ceilDiv(w.outputWidth, outputs) * period;
}

std::optional<WindowPasses> windowPasses(const WindowProblem &w, const WindowLimits &limits,
                                         int64_t rows) {
  if (w.dilationY != 1 || w.dilationX != 1 || w.multiplier != 1 || w.strideY > limits.strides[0] ||
      w.strideX > limits.strides[1] || w.kernelWidth > limits.taps[1])
    return std::nullopt;
  std::optional<WindowPasses> best;
  for (int64_t tapRows = 1; tapRows <= std::min(w.kernelHeight, limits.taps[0]); ++tapRows) {
    if (tapRows * w.kernelWidth > limits.cells)
      break;
    const int64_t most =
        tapRows == 1 ? limits.period
                     : std::min(limits.period, (limits.cells - w.kernelWidth) / (tapRows - 1));
    if (most < w.kernelWidth)
      break;
    const int64_t widest =
        std::min({(most - w.kernelWidth) / w.strideX + 1, limits.outputs[1], w.outputWidth});
    for (int64_t outputs = widest; outputs > 0; --outputs) {
      const WindowPasses passes{tapRows, outputs, (outputs - 1) * w.strideX + w.kernelWidth};
      if (!best || passes.cycles(w, rows) < best->cycles(w, rows))
        best = passes;
    }
  }
  return best;
}

} // namespace tilewright
