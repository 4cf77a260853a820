#include "integer_softmax.h"

#include "integer_table.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

constexpr double sumBits = 30; // of the greatest sum that is safe

// exp(logits - max), at most `unitOfTables`; `deepest`: how far below the maximum it may be taken
// for 0.
Value powersOf(IntegerBuilder &integer, const Sum &exact, int64_t axis, double deepest) {
  constexpr double indices = 65536, most = 1 << 29;
  const Sum logits = coarsened(integer, exact, deepest / most);
  Value greatest = integer.reduce<tosa::ReduceMaxOp>(logits.value, axis);
  const double factor = indices * logits.scale / deepest;
  Value index;
  constexpr double coarse =
      16; // indices a step: beyond, the greatest logit would miss the last one
  if (factor > coarse) {
    Value difference = integer.binary<tosa::SubOp>(logits.value, greatest);
    Value below = integer.rescaleSum(difference, {2 * logits.magnitude}, {factor}, {1, 0, 32});
    constexpr int64_t last = INT16_MAX;
    index = integer.rescale(integer.binary<tosa::AddOp>(below, integer.scalarLike(below, 32, last)),
                            0, {1}, {1, 0, 16});
  } else {
    // The middle of the table's range, of each row instead of each element.
    const double half = deepest / 2 / logits.scale;
    Value middle = integer.binary<tosa::SubOp>(
        greatest, integer.scalarLike(greatest, 32, static_cast<int64_t>(half)));
    Value centered = integer.binary<tosa::SubOp>(logits.value, middle);
    index = integer.rescaleSum(centered, {2 * logits.magnitude + half}, {factor}, {1, 0, 16});
  }
  return tableOfUnits(integer, index, [=](double x) { return std::exp(deepest * (x - 1)); });
}

} // namespace

Value buildSoftmax(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                   const Parameters &output) {
  constexpr double deepest = 16; // exp(-16) is 1e-7: below the result's last bit
  Value power = powersOf(integer, logits, axis, deepest);
  const auto count = double(tensorType(logits.value).getShape()[axis]);
  const int spare =
      std::max(0, static_cast<int>(std::ceil(std::log2(unitOfTables * count) - sumBits)));
  Value summand = power;
  if (spare > 0)
    summand = integer.shiftRight(power, integer.scalarLike(power, 32, spare));
  const double one = std::ldexp(unitOfTables, -spare);
  Sum inverse = powerOf(integer, {integer.reduce<tosa::ReduceSumOp>(summand, axis), 1, one * count},
                        {1, 0, -1}, one / 2);
  constexpr int shift = 22; // of 22 bits times 30
  Value quotient = integer.multiply(power, inverse.value, shift);
  const double factor = std::ldexp(inverse.scale, shift - spare);
  return integer.rescale(quotient, 0, {factor / output.scale}, output);
}

Exponentials buildExponentials(IntegerBuilder &integer, const Sum &logits, int64_t axis) {
  constexpr double deepest = 8, greatest = 255; // exp(-8) is a twelfth of a step
  Exponentials result{{}, {1 / greatest, -128, 8}, {}};
  Value power = powersOf(integer, logits, axis, deepest);
  result.value = integer.rescale(power, 0, {greatest / unitOfTables}, result.parameters);
  const auto count = double(tensorType(logits.value).getShape()[axis]);
  Value wide = integer.widen(result.value, result.parameters);
  result.inverse =
      powerOf(integer, {integer.reduce<tosa::ReduceSumOp>(wide, axis), 1, greatest * count},
              {1, 0, -1}, greatest * 15 / 16);
  return result;
}

} // namespace tilewright::quantization
