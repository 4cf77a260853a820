#include "integer_builder.h"

#include "graph_queries.h"

using namespace mlir;

namespace tilewright::quantization {

RankedTensorType IntegerBuilder::type(ArrayRef<int64_t> shape, int bits) {
  return RankedTensorType::get(shape, builder_.getIntegerType(bits));
}

Value IntegerBuilder::scalarLike(Value like, int bits, int64_t value) {
  return constant(SmallVector<int64_t>(tensorType(like).getRank(), 1), bits, {value});
}

Value IntegerBuilder::rescale(Value value, int64_t inputZeroPoint,
                              const std::vector<double> &factors, const Parameters &output) {
  std::vector<int64_t> multipliers, shifts;
  for (double factor : factors) {
    FixedPoint fixed = fixedPoint(factor);
    multipliers.push_back(fixed.multiplier);
    shifts.push_back(fixed.shift);
  }
  auto count = static_cast<int64_t>(factors.size());
  int inputBits = static_cast<int>(tensorType(value).getElementTypeBitWidth());
  return tosa::RescaleOp::create(
      builder_, location_, type(tensorType(value).getShape(), output.bits), value,
      constant({count}, 32, multipliers), constant({count}, 8, shifts),
      constant({1}, inputBits, {inputZeroPoint}), constant({1}, output.bits, {output.zeroPoint}),
      /*scale32=*/true, tosa::RoundingMode::SINGLE_ROUND, /*per_channel=*/count > 1,
      /*input_unsigned=*/false, /*output_unsigned=*/false);
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
