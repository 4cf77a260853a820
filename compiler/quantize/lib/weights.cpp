#include "weights.h"

#include "rounding.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewright::quantization {

// Weights in units of their scales become integers; one matrix of moments for all channels, or one
// for each.
static void round(std::vector<double> &weights, size_t channels,
                  const std::function<size_t(size_t)> &channelOf,
                  const std::vector<double> &inputMoments, double greatest) {
  if (inputMoments.empty()) {
    for (double &weight : weights)
      weight = std::clamp(std::nearbyint(weight), -greatest, greatest);
    return;
  }
  size_t perOutput = weights.size() / channels, square = perOutput * perOutput;
  std::vector<std::vector<size_t>> places(channels);
  for (size_t i = 0; i < weights.size(); ++i)
    places[channelOf(i)].push_back(i);
  std::optional<Rounding> rounding;
  std::vector<double> row(perOutput);
  for (size_t c = 0; c < channels; ++c) {
    size_t matrix = c * (inputMoments.size() / square) / channels;
    if (!rounding || inputMoments.size() > square)
      rounding.emplace(std::vector<double>(inputMoments.begin() + int64_t(matrix * square),
                                           inputMoments.begin() + int64_t((matrix + 1) * square)));
    for (size_t k = 0; k < perOutput; ++k)
      row[k] = weights[places[c][k]];
    rounding->apply(row.data(), greatest);
    for (size_t k = 0; k < perOutput; ++k)
      weights[places[c][k]] = row[k];
  }
}

QuantizedWeights quantizeWeights(const std::vector<double> &weights,
                                 const std::vector<double> &bias,
                                 const std::function<size_t(size_t)> &channelOf, double inputScale,
                                 const std::vector<double> &inputMeans,
                                 const std::vector<double> &inputMoments) {
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
  std::vector<double> integers(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    integers[i] = weights[i] / weightScale[channelOf(i)];
  round(integers, channels, channelOf, inputMoments, greatestWeight);
  std::vector<double> whole = bias;
  result.weights.reserve(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    size_t c = channelOf(i);
    result.weights.push_back(static_cast<int64_t>(integers[i]));
    whole[c] += (weights[i] - integers[i] * weightScale[c]) * inputMeans[i];
  }
  for (size_t c = 0; c < channels; ++c)
    result.bias.push_back(static_cast<int64_t>(
        std::clamp(std::nearbyint(whole[c] / result.scales[c]), -greatestBias, greatestBias)));
  return result;
}

} // namespace tilewright::quantization
