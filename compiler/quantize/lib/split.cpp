#include "split.h"

#include "graph_queries.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

constexpr int lowBits = 7;  // of 16, which the high part leaves
constexpr int partBits = 4; // of a low part in the stack
constexpr double part = 1 << partBits;

Parameters wideParameters(double low, double high) {
  return {asymmetric8(low, high).scale / (1 << lowBits), 0, 16};
}

Parameters highParameters(const Parameters &wide, double low, double high) {
  Parameters parameters{wide.scale * (1 << lowBits), 0, 8};
  constexpr int64_t margin = 1 << (partBits - 1); // the greatest low part in the stack
  double middle = std::nearbyint(-(low + high) / 2 / parameters.scale - 0.5);
  parameters.zeroPoint = static_cast<int64_t>(std::clamp(
      middle, double(parameters.least() + margin), double(parameters.greatest() - margin)));
  return parameters;
}

static std::vector<double> times(std::vector<double> factors, double factor) {
  for (double &value : factors)
    value *= factor;
  if (llvm::all_equal(factors))
    factors.resize(1);
  return factors;
}

// What the high part leaves of `wide`: its last `lowBits` bits, with their sign, in 32.
static Value restOf(IntegerBuilder &integer, Value wide, const std::vector<double> &factors) {
  Value value = integer.rescale(wide, 0, times(factors, 1), {1, 0, 32});
  Value distance = integer.scalarLike(value, 32, 32 - lowBits);
  Value up = tosa::LogicalLeftShiftOp::create(integer.builder(), integer.location(),
                                              value.getType(), value, distance);
  return tosa::ArithmeticRightShiftOp::create(integer.builder(), integer.location(),
                                              value.getType(), up, distance, /*round=*/false);
}

Value highActivations(IntegerBuilder &integer, Value wide, const std::vector<double> &factors,
                      const Parameters &high) {
  return integer.rescale(wide, 0, times(factors, 1.0 / (1 << lowBits)), high);
}

Value lowActivations(IntegerBuilder &integer, Value wide, const std::vector<double> &factors) {
  Value rest = restOf(integer, wide, factors);
  return integer.rescale(rest, 0, {1}, {1, 0, 8});
}

Value stackActivations(IntegerBuilder &integer, Value wide, const std::vector<double> &factors,
                       const Parameters &high) {
  constexpr double step = 1.0 / (1 << lowBits);
  Value rest = restOf(integer, wide, factors);
  Value parts[] = {highActivations(integer, wide, factors, high),
                   integer.rescale(rest, 0, {part * step}, high),
                   integer.rescale(wide, 0, times(factors, step / part), high)};
  SmallVector<int64_t> shape(tensorType(wide).getShape());
  shape[1] *= 3;
  return tosa::ConcatOp::create(integer.builder(), integer.location(), integer.type(shape, 8),
                                ValueRange(parts), 1);
}

QuantizedWeights stackWeights(const Filter &filter, const QuantizedWeights &weights,
                              double inputScale) {
  QuantizedWeights result{{}, weights.bias, weights.scales};
  std::vector<double> real;
  for (size_t c = 0; c < filter.outputs(); ++c) {
    filter.scaledWeights(c, real);
    double scale = weights.scales[c] / inputScale;
    auto append = [&](auto part) {
      for (size_t k = 0; k < real.size(); ++k)
        result.weights.push_back(
            static_cast<int8_t>(part(weights.weights[filter.place(c, k)], real[k] / scale)));
    };
    append([](int integer, double) { return integer; });
    append([](int, double exact) { return std::llround(exact / part); });
    append(
        [](int integer, double exact) { return std::llround((exact - double(integer)) * part); });
  }
  return result;
}

} // namespace tilewright::quantization
