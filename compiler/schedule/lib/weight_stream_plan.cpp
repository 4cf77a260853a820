#include "tilewright/compiler/schedule/weight_stream_plan.h"

#include <algorithm>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool isOnePixel(const ConvProblem &p) {
  return p.batch * p.height * p.width * p.outputHeight * p.outputWidth == 1 &&
         p.kernelHeight * p.kernelWidth == 1 && p.padTop == 0 && p.padLeft == 0 &&
         !p.weightsAreActivations && !p.inputScattered;
}

// Channels of the largest tile, as the accumulators and the array's counters allow.
static int64_t mostChannels(const ConvProblem &p, const ConvMachine &m) {
  return std::max<int64_t>(1, std::min(m.rowLimit, m.accBytes / std::max<int64_t>(m.accBanks, 2) /
                                                       (4 + p.accBytesPerElement)));
}

std::vector<int64_t> streamTiles(const ConvProblem &p, const ConvMachine &m) {
  const int64_t most = std::min(p.outputChannels, mostChannels(p, m));
  std::vector<int64_t> tiles;
  for (int64_t channels = 1; channels <= most; ++channels)
    if (channels <= m.channels || channels % m.channels == 0 || channels == p.outputChannels)
      tiles.push_back(channels);
  return tiles;
}

ConvPlan streamPlan(const ConvProblem &p, const ConvMachine &m, int64_t tileChannels,
                    int64_t folds) {
  ConvPlan plan{};
  plan.stepHeight = plan.stepWidth = plan.tileHeight = plan.tileWidth = 1;
  plan.tileChannels = plan.stepChannels = tileChannels;
  plan.streamFolds = folds;
  plan.weightParts = ceilDiv(ceilDiv(p.inputChannels, m.rows), folds);
  plan.inputLoads = 1;
  plan.weightLoads = ceilDiv(p.outputChannels, tileChannels) * plan.weightParts;
  plan.weightsDoubled = true;
  plan.gapBytes = folds * tileChannels * m.rows;
  plan.spadBytes = p.inputChannels + 3 * plan.gapBytes + p.residentBytes +
                   2 * tileChannels * (1 + p.spadBytesPerElement);
  plan.accBytes = tileChannels * (4 + p.accBytesPerElement);
  plan.estimatedCycles =
      static_cast<double>(p.inputChannels * p.outputChannels + plan.gapBytes) / m.dramBytesPerCycle;
  return plan;
}

std::vector<ConvPlan> planWeightStream(const ConvProblem &p, const ConvMachine &m) {
  std::vector<ConvPlan> plans;
  const int64_t folds = ceilDiv(p.inputChannels, m.rows), most = mostChannels(p, m);
  const int64_t block = most < m.channels ? 1 : m.channels,
                fewest = ceilDiv(p.outputChannels, most / block * block);
  for (int64_t tiles : {fewest, 2 * fewest, 4 * fewest})
    for (int64_t part : {16, 64}) { // of the scratchpad, a step's weights
      const int64_t channels =
          std::min(p.outputChannels, ceilDiv(ceilDiv(p.outputChannels, tiles), block) * block);
      const ConvPlan plan = streamPlan(
          p, m, channels, std::clamp<int64_t>(m.spadBytes / part / (channels * m.rows), 1, folds));
      const bool isKnown = std::any_of(plans.begin(), plans.end(), [&](const ConvPlan &each) {
        return each.tileChannels == plan.tileChannels && each.streamFolds == plan.streamFolds;
      });
      if (!isKnown)
        plans.push_back(plan);
    }
  return plans;
}

} // namespace tilewright
