// Symmetric 8-bit weights, a scale for each output channel.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tilewright::quantization {

struct QuantizedWeights {
  std::vector<int64_t> weights; // in the order of the real ones
  std::vector<int64_t> bias;    // one a channel, at the accumulator's scale
  std::vector<double> scales;   // of the accumulator: input scale times the channel's weight scale
};

// `channelOf` gives the output channel of a weight, by its index. `inputMeans` is the mean of what
// each weight is multiplied with: the bias makes up for what rounding the weights does to the mean
// of the output. `inputMoments` are the second moments (moments.h), by which errors of one output's
// weights make up for each other; none: each weight is rounded to the nearest.
QuantizedWeights quantizeWeights(const std::vector<double> &weights,
                                 const std::vector<double> &bias,
                                 const std::function<size_t(size_t)> &channelOf, double inputScale,
                                 const std::vector<double> &inputMeans,
                                 const std::vector<double> &inputMoments = {});

} // namespace tilewright::quantization
