#include "narrowing.h"

#include "split.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

// The ends of a tensor whose channels are scaled.
static std::pair<double, double> scaledRange(const Statistics &statistics, Value value,
                                             const std::vector<double> &factors) {
  double low = 0, high = 0;
  const std::vector<ChannelRange> &ranges = statistics.observed.ranges.find(value)->second;
  for (size_t c = 0; c < ranges.size(); ++c) {
    const double factor = factors.empty() ? 1 : factors[c];
    low = std::min(low, ranges[c].low * factor);
    high = std::max(high, ranges[c].high * factor);
  }
  return {low, high};
}

Parameters narrowedParameters(const Statistics &statistics, Value real,
                              const std::vector<double> &factors, Precision precision) {
  const auto [low, high] = scaledRange(statistics, real, factors);
  // Beside the errors of 8 bits, what is cut off hardly counts.
  const double margin = precision == Precision::Mixed ? 1 : headroom;
  return asymmetric8(margin * low, margin * high);
}

// Factors of the integers, by channel where they differ.
static std::vector<double> rescalesOf(const std::vector<double> &factors, double scale,
                                      const Parameters &parameters) {
  std::vector<double> rescales;
  for (double factor : factors)
    rescales.push_back(factor * scale / parameters.scale);
  if (llvm::all_equal(rescales))
    rescales.resize(1);
  return rescales;
}

Quantized narrowed(IntegerBuilder &integer, const Quantized &x, const std::vector<double> &factors,
                   const Parameters &parameters) {
  const std::vector<double> rescales = rescalesOf(factors, x.parameters.scale, parameters);
  return {integer.rescale(x.value, 0, rescales, parameters), parameters};
}

Quantized narrowed(IntegerBuilder &integer, const Accumulator &sum,
                   const std::vector<double> &factors, const Parameters &parameters) {
  const std::vector<double> rescales = rescalesOf(factors, sum.scales[0], parameters);
  const std::vector<double> magnitudes(rescales.size(), sum.magnitudes[0]);
  return {integer.rescaleSum(sum.value, magnitudes, rescales, parameters), parameters};
}

std::pair<std::vector<double>, Parameters> highPartOf(const Statistics &statistics, Value real,
                                                      const Parameters &wide, double strength) {
  const std::vector<ChannelRange> &ranges = statistics.observed.ranges.find(real)->second;
  std::vector<double> factors = factorsOf(statistics.observed, real, strength);
  auto [low, high] = scaledRange(statistics, real, {});
  low *= headroom, high *= headroom;
  for (size_t c = 0; c < factors.size(); ++c) {
    if (ranges[c].low < 0)
      factors[c] = std::min(factors[c], low / ranges[c].low / headroom);
    if (ranges[c].high > 0)
      factors[c] = std::min(factors[c], high / ranges[c].high / headroom);
    factors[c] = std::max(std::exp2(std::floor(std::log2(factors[c]))), 1.0);
  }
  return {factors, highParameters(wide, low, high)};
}

} // namespace tilewright::quantization
