#include "weights.h"

#include <algorithm>
#include <cmath>

namespace tilewright::quantization {

QuantizedWeights quantizeWeights(const std::vector<double> &weights,
                                 const std::vector<double> &bias,
                                 const std::function<size_t(size_t)> &channelOf, double inputScale,
                                 const std::vector<double> &inputMeans) {
  constexpr double greatestWeight = 127;
  constexpr double greatestBias = 1 << 29; // leaves the accumulator room for the products
  size_t channels = bias.size();
  std::vector<double> weightScale(channels, 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    double &scale = weightScale[channelOf(i)];
    scale = std::max(scale, std::fabs(weights[i]) / greatestWeight);
  }
  QuantizedWeights result;
  for (size_t c = 0; c < channels; ++c) {
    // A channel of (nearly) no weights must still represent its bias.
    weightScale[c] = std::max(weightScale[c], std::fabs(bias[c]) / (inputScale * greatestBias));
    if (weightScale[c] == 0)
      weightScale[c] = 1 / inputScale;
    result.scales.push_back(weightScale[c] * inputScale);
  }
  std::vector<double> whole = bias;
  for (size_t i = 0; i < weights.size(); ++i) {
    size_t c = channelOf(i);
    double integer =
        std::clamp(std::nearbyint(weights[i] / weightScale[c]), -greatestWeight, greatestWeight);
    result.weights.push_back(static_cast<int64_t>(integer));
    whole[c] += (weights[i] - integer * weightScale[c]) * inputMeans[i];
  }
  for (size_t c = 0; c < channels; ++c)
    result.bias.push_back(static_cast<int64_t>(
        std::clamp(std::nearbyint(whole[c] / result.scales[c]), -greatestBias, greatestBias)));
  return result;
}

} // namespace tilewright::quantization
