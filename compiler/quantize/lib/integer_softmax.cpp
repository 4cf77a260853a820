#include "integer_softmax.h"

#include "integer_table.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

constexpr double sumBits = 30; // of the greatest sum that is safe

// How coarse logits may be at most, as `deepest` asks for.
Sum logitsFor(IntegerBuilder &integer, const Sum &exact, double deepest) {
  constexpr double most = 1 << 29;
  return coarsened(integer, exact, deepest / most);
}

// logits - greatest, from -deepest to 0, spread over all 16-bit integers.
Value indexOf(IntegerBuilder &integer, const Sum &logits, Value greatest, double deepest) {
  constexpr double indices = 65536;
  const double factor = indices * logits.scale / deepest;
  constexpr double coarse =
      16; // indices a step: beyond, the greatest logit would miss the last one
  if (factor > coarse) {
    Value difference = integer.binary<tosa::SubOp>(logits.value, greatest);
    Value below = integer.rescaleSum(difference, {2 * logits.magnitude}, {factor}, {1, 0, 32});
    constexpr int64_t last = INT16_MAX;
    return integer.rescale(integer.binary<tosa::AddOp>(below, integer.scalarLike(below, 32, last)),
                           0, {1}, {1, 0, 16});
  }
  // The middle of the table's range, of each row instead of each element.
  const double half = deepest / 2 / logits.scale;
  Value middle = integer.binary<tosa::SubOp>(
      greatest, integer.scalarLike(greatest, 32, static_cast<int64_t>(half)));
  Value centered = integer.binary<tosa::SubOp>(logits.value, middle);
  return integer.rescaleSum(centered, {2 * logits.magnitude + half}, {factor}, {1, 0, 16});
}

// The exponentials of an index's differences, at most `unitOfTables`.
Value powersAt(IntegerBuilder &integer, Value index, double deepest) {
  return tableOfUnits(integer, index, [=](double x) { return std::exp(deepest * (x - 1)); });
}

// exp(logits - greatest), at most `unitOfTables`; `deepest`: how far below the greatest it may be
// taken for 0.
Value powersOf(IntegerBuilder &integer, const Sum &logits, Value greatest, double deepest) {
  return powersAt(integer, indexOf(integer, logits, greatest, deepest), deepest);
}

Value greatestOf(IntegerBuilder &integer, const Sum &logits, int64_t axis) {
  return integer.reduce<tosa::ReduceMaxOp>(logits.value, axis);
}

} // namespace

// Powers, which are divided by their sum; `summands`: the same powers.
static Value divided(IntegerBuilder &integer, Value powers, Value summands, int64_t axis,
                     const Parameters &output) {
  const auto count = double(tensorType(powers).getShape()[axis]);
  const int spare =
      std::max(0, static_cast<int>(std::ceil(std::log2(unitOfTables * count) - sumBits)));
  if (spare > 0)
    summands = integer.shiftRight(summands, integer.scalarLike(summands, 32, spare));
  const double one = std::ldexp(unitOfTables, -spare);
  Sum inverse =
      powerOf(integer, {integer.reduce<tosa::ReduceSumOp>(summands, axis), 1, one * count},
              {1, 0, -1}, one / 2);
  constexpr int shift = 22; // of 22 bits times 30
  Value quotient = integer.multiply(powers, inverse.value, shift);
  const double factor = std::ldexp(inverse.scale, shift - spare);
  return integer.rescale(quotient, 0, {factor / output.scale}, output);
}

constexpr double deepestOfRows = 16; // exp(-16) is 1e-7: below the result's last bit

Value buildSoftmax(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                   const Parameters &output) {
  const Sum coarse = logitsFor(integer, logits, deepestOfRows);
  Value powers = powersOf(integer, coarse, greatestOf(integer, coarse, axis), deepestOfRows);
  return divided(integer, powers, powers, axis, output);
}

Value buildSoftmaxOfLongRows(IntegerBuilder &integer, const Quantized &logits, int64_t axis,
                             const Parameters &output) {
  Value greatest = greatestOf(integer, widened(integer, logits), axis);
  auto powers = [&] {
    return powersOf(integer, widened(integer, logits), greatest, deepestOfRows);
  };
  Value summands = powers();
  return divided(integer, powers(), summands, axis, output);
}

constexpr double greatestExponential = 255;
constexpr double deepestOfBlocks = 16; // exp(-16) is 0 in the table

Exponentials buildExponentials(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                               bool isBlock) {
  // exp(-8) is a twelfth of a step; of blocks, one table is enough for all.
  const double deepest = isBlock ? deepestOfBlocks : 8;
  Exponentials result{{}, {1 / greatestExponential, -128, 8}, {}, axis};
  const Sum coarse = logitsFor(integer, logits, deepest);
  result.greatest = coarse;
  result.greatest.value = greatestOf(integer, coarse, axis);
  Value power = powersOf(integer, coarse, result.greatest.value, deepest);
  result.value = integer.rescale(power, 0, {greatestExponential / unitOfTables}, result.parameters);
  return result;
}

Sum totalOf(IntegerBuilder &integer, const Exponentials &exponentials) {
  const auto count = double(tensorType(exponentials.value).getShape()[exponentials.axis]);
  Value wide = integer.widen(exponentials.value, exponentials.parameters);
  return {integer.reduce<tosa::ReduceSumOp>(wide, exponentials.axis), 1,
          greatestExponential * count};
}

Sum inverseOf(IntegerBuilder &integer, const Sum &total) {
  constexpr double least = greatestExponential * 15 / 16; // of the greatest logit's alone
  return powerOf(integer, total, {1, 0, -1}, least / total.scale);
}

Sum refinedTotal(IntegerBuilder &integer, const Sum &total) {
  constexpr int finer = 8;
  return {integer.binary<tosa::LogicalLeftShiftOp>(total.value,
                                                   integer.scalarLike(total.value, 32, finer)),
          std::ldexp(total.scale, -finer), std::ldexp(total.magnitude, finer)};
}

// unitOfTables is 2^powerBits but for 3e-5, in numerator and denominator alike.
Powers buildPowers(IntegerBuilder &integer, ArrayRef<Sum> greatest) {
  Powers powers{greatest.front(), {}};
  Value &all = powers.greatest.value;
  for (const Sum &each : greatest.drop_front())
    all = integer.binary<tosa::MaximumOp>(all, each.value);
  for (const Sum &each : greatest)
    powers.values.push_back(powersOf(integer, each, all, deepestOfBlocks));
  return powers;
}

} // namespace tilewright::quantization
