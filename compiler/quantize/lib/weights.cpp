#include "weights.h"

#include "rounding.h"
#include "weight_grid.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewright::quantization {

namespace {

constexpr double greatestWeight = 127;
constexpr double greatestBias = 1 << 29; // leaves the accumulator a range for the products

// Weights of one output, in units of their scale, become integers.
class Rounder {
public:
  explicit Rounder(const Filter &filter) : filter_(filter) {
    size_t square = filter.perOutput() * filter.perOutput();
    matrices_ = filter.inputMoments.size() / square;
  }

  void operator()(size_t output, std::vector<double> &row) {
    if (matrices_ == 0) {
      for (double &weight : row)
        weight = roundEven(std::clamp(weight, -greatestWeight, greatestWeight));
      return;
    }
    if (!rounding_ || matrices_ > 1) {
      size_t square = row.size() * row.size(), matrix = output * matrices_ / filter_.outputs();
      auto first = filter_.inputMoments.begin() + static_cast<int64_t>(matrix * square);
      rounding_.emplace(std::vector<double>(first, first + static_cast<int64_t>(square)),
                        filter_.momentPixels);
    }
    rounding_->apply(row.data(), greatestWeight);
  }

private:
  const Filter &filter_;
  size_t matrices_ = 0; // of moments: none, one for all outputs, or one for each input channel
  std::optional<Rounding> rounding_;
};

} // namespace

// The model's own integers.
static std::optional<QuantizedWeights> keptWeights(const Filter &filter, double inputScale) {
  const std::optional<WeightGrid> grid = weightGridOf(filter);
  if (!grid)
    return std::nullopt;
  QuantizedWeights result;
  result.zeroPoint = grid->zeroPoint;
  result.weights.resize(filter.weights.size());
  std::vector<double> row;
  for (size_t c = 0; c < filter.outputs(); ++c) {
    filter.scaledWeights(c, row);
    double step = grid->steps[c];
    if (step == 0) // of a channel of zeros: for the sake of its bias
      step = std::fabs(filter.bias[c]) / (inputScale * greatestBias);
    if (step == 0)
      step = 1 / inputScale;
    result.scales.push_back(step * inputScale);
    const double bias = std::nearbyint(filter.bias[c] / result.scales[c]);
    if (std::fabs(bias) > greatestBias)
      return std::nullopt;
    result.bias.push_back(static_cast<int64_t>(bias));
    for (size_t k = 0; k < row.size(); ++k)
      result.weights[filter.place(c, k)] =
          static_cast<int8_t>(std::nearbyint(row[k] / step) + double(grid->zeroPoint));
  }
  return result;
}

QuantizedWeights quantizeWeights(const Filter &filter, double inputScale) {
  if (filter.keepsWeights)
    if (std::optional<QuantizedWeights> kept = keptWeights(filter, inputScale))
      return std::move(*kept);
  QuantizedWeights result;
  result.weights.resize(filter.weights.size());
  Rounder round(filter);
  std::vector<double> row, integers, means;
  for (size_t c = 0; c < filter.outputs(); ++c) {
    filter.scaledWeights(c, row);
    double greatest = 0;
    for (double weight : row)
      greatest = std::max(greatest, std::fabs(weight));
    // A channel of (nearly) no weights must still represent its bias.
    double scale = std::max(greatest / greatestWeight,
                            std::fabs(filter.bias[c]) / (inputScale * greatestBias));
    if (scale == 0)
      scale = 1 / inputScale;
    result.scales.push_back(scale * inputScale);

    integers.resize(row.size());
    for (size_t k = 0; k < row.size(); ++k)
      integers[k] = row[k] / scale;
    round(c, integers);
    if (c == 0 || filter.isDepthwise) // elsewhere all outputs read the same
      filter.scaledMeans(c, means);
    double whole = filter.bias[c];
    for (size_t k = 0; k < row.size(); ++k) {
      result.weights[filter.place(c, k)] = static_cast<int8_t>(integers[k]);
      whole += (row[k] - integers[k] * scale) * means[k];
    }
    result.bias.push_back(static_cast<int64_t>(
        std::clamp(std::nearbyint(whole / result.scales[c]), -greatestBias, greatestBias)));
  }
  return result;
}

RealWeights::RealWeights(const Filter &filter)
    : weights(makeTensor(DType::F32, {filter.shape.begin(), filter.shape.end()})),
      bias(makeTensor(DType::F32, {static_cast<int64_t>(filter.outputs())})) {}

void RealWeights::set(const Filter &filter, const QuantizedWeights &quantized, double inputScale) {
  constexpr int most = 127, least = -128;
  double levels[most - least + 1];
  for (size_t c = 0; c < filter.outputs(); ++c) {
    for (int q = least; q <= most; ++q)
      levels[q - least] = double(q - quantized.zeroPoint) * quantized.scales[c] / inputScale;
    double factor = filter.outputFactors.empty() ? 1 : filter.outputFactors[c];
    for (size_t k = 0; k < filter.perOutput(); ++k) {
      size_t at = filter.place(c, k);
      double real = levels[quantized.weights[at] - least];
      if (!filter.inputFactors.empty())
        real *= filter.inputFactors[filter.inputOf(c, k)];
      if (!filter.outputFactors.empty())
        real /= factor;
      weights.data<float>()[at] = static_cast<float>(real);
    }
    bias.data<float>()[c] =
        static_cast<float>(double(quantized.bias[c]) * quantized.scales[c] / factor);
  }
}

} // namespace tilewright::quantization
