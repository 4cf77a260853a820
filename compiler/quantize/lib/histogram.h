// The distribution of a tensor's values over the calibration samples, and the range that a
// calibration method takes from it.
#pragma once

#include "tilewright/compiler/quantize/quantize.h"
#include "tilewright/compiler/tosa/quantization_parameters.h"

#include <functional>
#include <vector>

namespace tilewright::quantization {

// Equal bins over [low, high]; counts do not depend on the order in which values were added.
struct Histogram {
  static constexpr int bins = 2048;

  double low = 0;
  double high = 0;
  std::vector<int64_t> counts = std::vector<int64_t>(bins, 0);

  Histogram() = default;
  Histogram(double low, double high) : low(low), high(high) {}

  void add(const float *values, int64_t count);
  double center(int bin) const { return low + (bin + 0.5) * (high - low) / bins; }
  int64_t total() const;
};

// What is computed from a tensor before anything else: the range should serve its result. Empty:
// the tensor itself.
using Functions = std::vector<std::function<double(double)>>;

struct Range {
  double low;
  double high;
};

// The part of a range that makes a difference: without the tails in which all functions are
// constant.
Range usedRange(Range range, const Functions &functions);

// 8-bit parameters for a tensor: its used range with zero, or what the calibration method takes of
// it. Under Calibration::Mse the error of the functions' results is minimized, not that of the
// tensor.
Parameters chooseParameters(const Histogram &histogram, const QuantizeOptions &options,
                            const Functions &functions = {});

} // namespace tilewright::quantization
