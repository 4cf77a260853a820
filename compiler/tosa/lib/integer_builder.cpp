#include "tilewright/compiler/tosa/integer_builder.h"

#include "tilewright/compiler/tosa/fixed_point.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

// The greatest factor for values of this magnitude, a little below the limit: rounding the
// multiplier must not pass it.
static double legal(double magnitude) { return maxFactorFor(magnitude) * 0.999; }

RankedTensorType IntegerBuilder::type(ArrayRef<int64_t> shape, int bits) {
  return RankedTensorType::get(shape, builder_.getIntegerType(bits));
}

Value IntegerBuilder::constant(ArrayRef<int64_t> shape, const std::vector<int8_t> &weights) {
  return makeConstant(builder_, location_,
                      DenseElementsAttr::get(type(shape, 8), ArrayRef<int8_t>(weights)));
}

Value IntegerBuilder::scalarLike(Value like, int bits, int64_t value) {
  return constant(SmallVector<int64_t>(tensorType(like).getRank(), 1), bits, {value});
}

Value IntegerBuilder::rescale(Value value, int64_t inputZeroPoint,
                              const std::vector<double> &factors, const Parameters &output) {
  int inputBits = static_cast<int>(tensorType(value).getElementTypeBitWidth());
  // Beyond this factor all but zero saturates.
  double greatest = inputBits > 16 ? maxFactor : legal(std::ldexp(1.0, inputBits) - 1);
  std::vector<int64_t> multipliers, shifts;
  for (double factor : factors) {
    FixedPoint fixed = fixedPoint(std::min(factor, greatest));
    multipliers.push_back(fixed.multiplier);
    shifts.push_back(fixed.shift);
  }
  auto count = static_cast<int64_t>(factors.size());
  return tosa::RescaleOp::create(
      builder_, location_, type(tensorType(value).getShape(), output.bits), value,
      constant({count}, 32, multipliers), constant({count}, 8, shifts),
      constant({1}, inputBits, {inputZeroPoint}), constant({1}, output.bits, {output.zeroPoint}),
      /*scale32=*/true, tosa::RoundingMode::SINGLE_ROUND, /*per_channel=*/count > 1,
      /*input_unsigned=*/false, /*output_unsigned=*/false);
}

Value IntegerBuilder::rescaleSum(Value sum, const std::vector<double> &magnitudes,
                                 std::vector<double> factors, const Parameters &output) {
  constexpr int wide = 28; // of 32 bits, so that differences of results do not overflow
  double reach = std::ldexp(1.0, output.bits > 16 ? wide : output.bits + 1);
  bool isDefined = true;
  std::vector<int64_t> bounds;
  for (size_t i = 0; i < factors.size(); ++i) {
    isDefined &= factors[i] <= legal(magnitudes[i]);
    double saturating = std::ceil(reach / std::max(factors[i], reach / INT32_MAX));
    bounds.push_back(static_cast<int64_t>(std::max(1.0, std::min(magnitudes[i], saturating))));
    factors[i] = std::min(factors[i], legal(double(bounds[i])));
  }
  if (!isDefined) {
    SmallVector<int64_t> shape(tensorType(sum).getRank(), 1);
    if (bounds.size() > 1)
      shape.back() = static_cast<int64_t>(bounds.size());
    sum = binary<tosa::MinimumOp>(sum, constant(shape, 32, bounds));
    for (int64_t &bound : bounds)
      bound = -bound;
    sum = binary<tosa::MaximumOp>(sum, constant(shape, 32, bounds));
  }
  return rescale(sum, 0, factors, output);
}

Value IntegerBuilder::widen(Value value, const Parameters &parameters, double factor) {
  return rescale(value, parameters.zeroPoint, {factor}, {1, 0, 32});
}

Value IntegerBuilder::multiply(Value a, Value b, int shift) {
  return tosa::MulOp::create(builder_, location_, broadcastType(a, b), a, b,
                             constant({1}, 8, {shift}));
}

Value IntegerBuilder::shiftRight(Value a, Value b) {
  return tosa::ArithmeticRightShiftOp::create(builder_, location_, broadcastType(a, b), a, b,
                                              /*round=*/true);
}

RankedTensorType IntegerBuilder::broadcastType(Value a, Value b) {
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip(tensorType(a).getShape(), tensorType(b).getShape()))
    shape.push_back(x == 1 ? y : x);
  return type(shape, 32);
}

} // namespace tilewright::quantization
