#include "tilewright/compiler/schedule/standing_plan.h"

#include <algorithm>

namespace tilewright {

StandingTaps standingTaps(const ConvProblem &p, TapMerge merge) {
  const int64_t rows = merge == TapMerge::All ? 1 : p.kernelHeight,
                columns = merge == TapMerge::None ? p.kernelWidth : 1;
  return {rows, columns, p.kernelHeight * p.kernelWidth / (rows * columns) * p.inputChannels};
}

int64_t standingCycles(const ConvProblem &p, const ConvMachine &m, TapMerge merge, int64_t pixels) {
  const StandingTaps taps = standingTaps(p, merge);
  const int64_t last = taps.depth % m.rows;
  auto block = [&](int64_t rows) {
    return taps.rows * taps.columns * (taps.depth - last + (last > 0 ? std::max(last, rows) : 0));
  };
  const int64_t left = pixels % m.rows;
  return pixels / m.rows * block(m.rows) + (left > 0 ? block(left) : 0);
}

bool mayStand(const ConvProblem &p, const ConvMachine &m) {
  const StandingTaps taps = standingTaps(p, TapMerge::None);
  return m.standing && taps.rows <= m.standing->taps[0] && taps.columns <= m.standing->taps[1] &&
         taps.rows * taps.columns * taps.depth <= m.standing->depth; // all taps may be merged
}

std::vector<ConvPlan> planStanding(const ConvProblem &p, const ConvMachine &m, size_t most,
                                   int64_t *smallest) {
  *smallest = INT64_MAX;
  if (!mayStand(p, m))
    return {};
  ConvMachine counts = m;
  for (int64_t outputs : m.standing->outputs)
    counts.rowLimit = std::min(counts.rowLimit, outputs);
  return planConvolution(p, counts, most, smallest, Stands::Sums);
}

} // namespace tilewright
