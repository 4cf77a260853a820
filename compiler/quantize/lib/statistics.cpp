#include "statistics.h"

#include "graph_queries.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// The least and greatest value of each channel (index of the last dimension) over samples.
class Ranges {
public:
  // Values are taken in rows of `width`, a multiple of the channels.
  explicit Ranges(size_t channels)
      : channels_(channels), low_(widthFor(channels), HUGE_VALF), high_(low_.size(), -HUGE_VALF),
        magnitude_(low_.size(), 0) {}

  void add(const Tensor &tensor) {
    const float *values = tensor.data<float>();
    size_t count = static_cast<size_t>(tensor.elements()), width = low_.size();
    for (size_t at = 0; at < count; at += width)
      addRow(values + at, std::min(width, count - at));
  }

  void merge(const Ranges &other) {
    for (size_t i = 0; i < low_.size(); ++i) {
      low_[i] = std::min(low_[i], other.low_[i]);
      high_[i] = std::max(high_[i], other.high_[i]);
      magnitude_[i] = std::max(magnitude_[i], other.magnitude_[i]);
    }
  }

  float low(size_t channel) const { return over<std::less<>>(low_, channel); }
  float high(size_t channel) const { return over<std::greater<>>(high_, channel); }
  bool isFinite() const {
    constexpr uint32_t infinity = 0x7f800000;
    return *std::max_element(magnitude_.begin(), magnitude_.end()) < infinity;
  }

private:
  static size_t widthFor(size_t channels) {
    constexpr size_t enough = 64; // for the loop over a row to be worth vectors
    return channels * ((enough + channels - 1) / channels);
  }

  void addRow(const float *values, size_t count) {
    float *__restrict low = low_.data(), *__restrict high = high_.data();
    uint32_t *__restrict magnitude = magnitude_.data();
    for (size_t i = 0; i < count; ++i) {
      float value = values[i];
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      low[i] = value < low[i] ? value : low[i];
      high[i] = value > high[i] ? value : high[i];
      magnitude[i] = std::max(magnitude[i], bits & 0x7fffffffu);
    }
  }

  template <typename Before> float over(const std::vector<float> &ends, size_t channel) const {
    float end = ends[channel];
    for (size_t i = channel; i < ends.size(); i += channels_)
      end = Before()(ends[i], end) ? ends[i] : end;
    return end;
  }

  size_t channels_;
  std::vector<float> low_, high_;
  std::vector<uint32_t> magnitude_; // without the sign, as bits: these order like the values
};

void requireFinite(Value value, const Ranges &ranges) {
  if (ranges.isFinite())
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

// Shows every thread's own accumulators its share of the samples; then merges them into the first
// one's. What is accumulated must not depend on the order.
template <typename Accumulator>
std::vector<Accumulator> accumulate(const FloatExecutable &executable, const Samples &samples,
                                    const std::vector<Accumulator> &empty) {
  size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, samples.size());
  std::vector<std::vector<Accumulator>> sums(threads, empty);
  std::vector<std::future<void>> running;
  for (size_t thread = 0; thread < threads; ++thread)
    running.push_back(std::async(std::launch::async, [&, thread] {
      FloatExecutable::Workspace workspace;
      for (size_t sample = thread; sample < samples.size(); sample += threads)
        executable.run(samples[sample], workspace, [&](size_t index, const Tensor &tensor) {
          sums[thread][index].add(tensor);
        });
    }));
  for (std::future<void> &share : running)
    share.wait();
  for (std::future<void> &share : running)
    share.get();
  for (size_t thread = 1; thread < threads; ++thread)
    for (size_t i = 0; i < empty.size(); ++i)
      sums[0][i].merge(sums[thread][i]);
  return std::move(sums[0]);
}

struct ScaledHistogram {
  Histogram histogram;
  std::vector<double> factors;

  void add(const Tensor &tensor) {
    if (factors.empty())
      histogram.add(tensor.data<float>(), tensor.elements());
    else
      addScaled(histogram, tensor, factors);
  }
  void merge(const ScaledHistogram &other) {
    for (int bin = 0; bin < Histogram::bins; ++bin)
      histogram.counts[bin] += other.histogram.counts[bin];
  }
};

} // namespace

Statistics collectStatistics(const FloatExecutable &executable, const Samples &samples,
                             const std::vector<Value> &ranged, const Equalization &equalization,
                             bool withCounts) {
  std::vector<Ranges> ranges;
  for (Value value : ranged)
    ranges.emplace_back(equalization.contains(value) ? tensorType(value).getShape().back() : 1);
  ranges = accumulate(executable, samples, ranges);

  Statistics statistics;
  std::vector<ScaledHistogram> histograms(ranged.size());
  for (size_t i = 0; i < ranged.size(); ++i) {
    requireFinite(ranged[i], ranges[i]);
    std::vector<double> factors = {1.0};
    if (equalization.contains(ranged[i])) {
      std::vector<double> magnitudes;
      for (int64_t c = 0; c < tensorType(ranged[i]).getShape().back(); ++c)
        magnitudes.push_back(std::max(std::fabs(ranges[i].low(c)), std::fabs(ranges[i].high(c))));
      factors = channelFactors(magnitudes, equalization.lookup(ranged[i]));
      histograms[i].factors = statistics.channelFactors[ranged[i]] = factors;
    }
    Histogram &histogram = histograms[i].histogram;
    for (size_t c = 0; c < factors.size(); ++c) {
      histogram.low = std::min(histogram.low, ranges[i].low(c) * factors[c]);
      histogram.high = std::max(histogram.high, ranges[i].high(c) * factors[c]);
    }
  }
  if (withCounts)
    histograms = accumulate(executable, samples, histograms);
  for (size_t i = 0; i < ranged.size(); ++i)
    statistics.histograms[ranged[i]] = std::move(histograms[i].histogram);
  return statistics;
}

} // namespace tilewright::quantization
