// Symmetric 8-bit weights, a scale for each output channel.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tilewright {

struct QuantizedWeights {
  std::vector<int64_t> weights; // in the order of the real ones
  std::vector<int64_t> bias;    // one a channel, at the accumulator's scale
  std::vector<double> scales;   // of the accumulator: input scale times the channel's weight scale
};

struct WeightLayout {
  std::function<size_t(size_t)> outputChannel; // of a weight, by its index
  std::function<size_t(size_t)> inputChannel;
};

// `inputMeans`: the input's mean, channel by channel; the mean error that rounding the weights
// makes goes into the bias.
QuantizedWeights quantizeWeights(const std::vector<double> &weights,
                                 const std::vector<double> &bias, const WeightLayout &layout,
                                 double inputScale, const std::vector<double> &inputMeans);

} // namespace tilewright
