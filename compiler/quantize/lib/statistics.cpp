#include "statistics.h"

#include "graph_queries.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// Where the values of interest stand among a run's inputs and results.
class Finder {
public:
  Finder(FloatExecutable &executable, Block &main) {
    size_t first = main.getTerminator()->getNumOperands();
    for (Value value : executable.intermediates())
      results_[value] = first++;
  }

  const Tensor &find(Value value, const std::vector<Tensor> &inputs,
                     const std::vector<Tensor> &results) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return inputs[argument.getArgNumber()];
    return results[results_.lookup(value)];
  }

private:
  llvm::DenseMap<Value, size_t> results_;
};

// The least and greatest value of each channel (index of the last dimension) over all samples.
struct ChannelRanges {
  std::vector<float> low, high;

  explicit ChannelRanges(size_t channels) : low(channels, HUGE_VALF), high(channels, -HUGE_VALF) {}

  void add(const Tensor &tensor) {
    const float *values = tensor.data<float>();
    for (int64_t i = 0, count = tensor.elements(); i < count;)
      for (size_t c = 0; c < low.size(); ++c, ++i) {
        low[c] = std::min(low[c], values[i]);
        high[c] = std::max(high[c], values[i]);
      }
  }
};

void requireFinite(Value value, const Tensor &tensor) {
  if (std::all_of(tensor.data<float>(), tensor.data<float>() + tensor.elements(),
                  [](float x) { return std::isfinite(x); }))
    return;
  Operation *op = value.getDefiningOp();
  throw UserError(op ? placeOf(op) : Place{"", 0, 0, "calibration data"},
                  "is not finite on a calibration sample",
                  "check the calibration data and the model's own numbers");
}

void addScaled(Histogram &histogram, const Tensor &tensor, const std::vector<double> &factors) {
  std::vector<float> scaled(tensor.elements());
  for (size_t i = 0; i < scaled.size(); ++i)
    scaled[i] = tensor.data<float>()[i] * static_cast<float>(factors[i % factors.size()]);
  histogram.add(scaled.data(), static_cast<int64_t>(scaled.size()));
}

} // namespace

Statistics collectStatistics(FloatExecutable &executable, Block &main, const Samples &samples,
                             const std::vector<Value> &ranged, const Equalization &equalization) {
  Statistics statistics;
  Finder finder(executable, main);
  std::vector<Tensor> results;
  llvm::DenseMap<Value, ChannelRanges> ranges;
  for (Value value : ranged)
    ranges.try_emplace(value,
                       equalization.contains(value) ? tensorType(value).getShape().back() : 1);
  for (const std::vector<Tensor> &sample : samples) {
    executable.run(sample, results);
    for (Value value : ranged) {
      const Tensor &tensor = finder.find(value, sample, results);
      requireFinite(value, tensor);
      ranges.find(value)->second.add(tensor);
    }
  }
  for (Value value : ranged) {
    const ChannelRanges &range = ranges.find(value)->second;
    std::vector<double> factors = {1.0};
    if (equalization.contains(value)) {
      std::vector<double> magnitudes;
      for (size_t c = 0; c < range.low.size(); ++c)
        magnitudes.push_back(std::max(std::fabs(range.low[c]), std::fabs(range.high[c])));
      factors = statistics.channelFactors[value] =
          channelFactors(magnitudes, equalization.lookup(value));
    }
    Histogram &histogram = statistics.histograms[value];
    for (size_t c = 0; c < factors.size(); ++c) {
      histogram.low = std::min(histogram.low, range.low[c] * factors[c]);
      histogram.high = std::max(histogram.high, range.high[c] * factors[c]);
    }
  }
  for (const std::vector<Tensor> &sample : samples) {
    executable.run(sample, results);
    for (Value value : ranged) {
      const Tensor &tensor = finder.find(value, sample, results);
      Histogram &histogram = statistics.histograms.find(value)->second;
      auto factors = statistics.channelFactors.find(value);
      if (factors != statistics.channelFactors.end())
        addScaled(histogram, tensor, factors->second);
      else
        histogram.add(tensor.data<float>(), tensor.elements());
    }
  }
  return statistics;
}

} // namespace tilewright::quantization
