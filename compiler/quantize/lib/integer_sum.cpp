#include "integer_sum.h"

#include "integer_table.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

// A rescale that ends within this is defined, whatever the magnitude before it; and two of them
// have a sum of 32 bits.
static constexpr double mostSum = 0.99 * (1 << 29);

Sum widened(IntegerBuilder &integer, const Quantized &x) {
  const double finer = x.parameters.bits == 8 ? 1 << 8 : 1;
  return {integer.widen(x.value, x.parameters, finer), x.parameters.scale / finer,
          x.parameters.magnitude() * finer};
}

static Sum constantAt(IntegerBuilder &integer, ArrayRef<int64_t> shape,
                      const std::vector<double> &reals, double scale) {
  std::vector<int64_t> integers;
  double magnitude = 1;
  for (double real : reals) {
    integers.push_back(std::llround(std::clamp(real / scale, -mostSum, mostSum)));
    magnitude = std::max(magnitude, std::fabs(double(integers.back())));
  }
  return {integer.constant(shape, 32, integers), scale, magnitude};
}

Sum constantSum(IntegerBuilder &integer, ArrayRef<int64_t> shape,
                const std::vector<double> &reals) {
  double greatest = 0;
  for (double real : reals)
    greatest = std::max(greatest, std::fabs(real));
  return constantAt(integer, shape, reals, greatest > 0 ? greatest / mostSum : 1);
}

Sum constantLike(IntegerBuilder &integer, ArrayRef<int64_t> shape, const std::vector<double> &reals,
                 const Sum &like) {
  return constantAt(integer, shape, reals, like.scale);
}

// At `scale`; where it would be greater than `most`, it is.
static Sum atScale(IntegerBuilder &integer, const Sum &x, double scale, double most) {
  const double factor = x.scale / scale;
  if (factor == 1 && x.magnitude <= most)
    return x;
  const double magnitude = std::min(x.magnitude * factor + 1, most);
  if (const auto integers = constantIntegers(x.value)) {
    std::vector<int64_t> scaled;
    for (int64_t each : *integers)
      scaled.push_back(std::llround(std::clamp(double(each) * factor, -most, most)));
    return {integer.constant(tensorType(x.value).getShape(), 32, scaled), scale, magnitude};
  }
  const Accumulator sum = x;
  return {integer.rescaleSum(sum.value, sum.magnitudes, {factor}, {1, 0, 32}), scale, magnitude};
}

// At `scale`, or the finest one at which 32 bits hold it.
static Sum within(IntegerBuilder &integer, const Sum &x, double scale) {
  return atScale(integer, x, std::max(scale, x.scale * x.magnitude / mostSum), mostSum);
}

Sum coarsened(IntegerBuilder &integer, const Sum &x, double finest) {
  return x.scale >= finest ? x : within(integer, x, finest);
}

Sum refined(IntegerBuilder &integer, const Sum &x, double coarsest) {
  return x.scale <= coarsest ? x : within(integer, x, coarsest);
}

// With steps so much coarser that it is at most `most`.
static Sum fitted(IntegerBuilder &integer, const Sum &x, double most) {
  if (x.magnitude <= most)
    return x;
  return atScale(integer, x, x.scale * std::exp2(std::ceil(std::log2(x.magnitude / most))), most);
}

Sum widenedLike(IntegerBuilder &integer, const Quantized &x, const Sum &like) {
  const double factor = x.parameters.scale / like.scale;
  if (std::ldexp(factor, x.parameters.bits) > mostSum)
    return widened(integer, x);
  return {integer.widen(x.value, x.parameters, factor), like.scale,
          x.parameters.magnitude() * factor};
}

template <typename Op> Sum combine(IntegerBuilder &integer, Sum a, Sum b, bool saturates) {
  auto elements = [](const Sum &x) { return tensorType(x.value).getNumElements(); };
  auto reach = [](const Sum &x) { return x.magnitude * x.scale; };
  const bool leadsB = saturates                    ? b.scale < a.scale
                      : elements(a) != elements(b) ? elements(b) > elements(a)
                                                   : reach(b) > reach(a);
  Sum &lead = leadsB ? b : a, &other = leadsB ? a : b;
  lead = fitted(integer, lead, mostSum);
  constexpr double finest = 1.0 / (1 << 20); // so that what is cut off is far away
  lead = coarsened(integer, lead, saturates ? finest : reach(other) / mostSum);
  other = atScale(integer, other, lead.scale, mostSum);
  return {integer.binary<Op>(a.value, b.value), lead.scale, a.magnitude + b.magnitude};
}
template Sum combine<tosa::AddOp>(IntegerBuilder &, Sum, Sum, bool);
template Sum combine<tosa::SubOp>(IntegerBuilder &, Sum, Sum, bool);
template Sum combine<tosa::MaximumOp>(IntegerBuilder &, Sum, Sum, bool);
template Sum combine<tosa::MinimumOp>(IntegerBuilder &, Sum, Sum, bool);

Sum multiply(IntegerBuilder &integer, const Sum &a, const Sum &b, double most) {
  const double magnitude = std::min(a.magnitude * b.magnitude, most / (a.scale * b.scale));
  const int shift = std::max(0, static_cast<int>(std::ceil(std::log2(magnitude / mostSum))));
  return {integer.multiply(a.value, b.value, shift), std::ldexp(a.scale * b.scale, shift),
          std::ldexp(magnitude, -shift) + 1};
}

// What is reduced may have 32 bits whole: fewer elements follow, which another rescale is cheap
// for.
static constexpr double mostReduced = 4 * mostSum;

Sum squareOf(IntegerBuilder &integer, const Sum &x, double greatest, double count) {
  const double total = std::max(count * greatest * greatest, x.magnitude * x.magnitude);
  const int shift =
      std::max(0, static_cast<int>(std::ceil(std::log2(total / (0.99 * mostReduced)))));
  return {integer.multiply(x.value, x.value, shift), std::ldexp(x.scale * x.scale, shift),
          std::ldexp(total / count, -shift) + 1};
}

Sum reduceSum(IntegerBuilder &integer, Sum x, int64_t axis) {
  const auto count = double(tensorType(x.value).getShape()[axis]);
  x = fitted(integer, x, mostReduced / count);
  return {integer.reduce<tosa::ReduceSumOp>(x.value, axis), x.scale, x.magnitude * count};
}

// The leading one moves to bit 29 or 30, by an even distance: a square root halves it.
Sum powerOf(IntegerBuilder &integer, const Sum &x, const Power &power, double least) {
  constexpr int leading = 29;
  constexpr double lowest = 1 << leading, span = 3 * lowest; // of what the table is of
  auto scalar = [&](int64_t value) { return integer.scalarLike(x.value, 32, value); };
  auto binary = [&](auto op, Value a, Value b) { return integer.binary<decltype(op)>(a, b); };
  // So coarse that the offset is a number of its steps, however small all that was seen is.
  const Sum whole = fitted(integer, x, mostSum),
            operand = coarsened(integer, whole, power.offset / (power.factor * mostSum));
  const double step = power.factor * operand.scale,
               offset = std::min(std::nearbyint(power.offset / step), mostSum);
  least *= whole.scale / operand.scale;
  Value base = operand.value;
  if (offset != 0)
    base = binary(tosa::AddOp(), base, scalar(static_cast<int64_t>(offset)));
  const auto smallest = static_cast<int64_t>(std::clamp(std::floor(least), 1.0, mostSum));
  base = binary(tosa::MaximumOp(), base, scalar(smallest));
  Value zeros = tosa::ClzOp::create(integer.builder(), integer.location(), base.getType(), base);
  Value pairs =
            binary(tosa::LogicalRightShiftOp(), binary(tosa::SubOp(), zeros, scalar(1)), scalar(1)),
        shift = binary(tosa::LogicalLeftShiftOp(), pairs, scalar(1));
  Value mantissa = binary(tosa::LogicalLeftShiftOp(), base, shift);
  Value index = integer.rescale(
      binary(tosa::SubOp(), mantissa, scalar(static_cast<int64_t>(lowest + span / 2))), 0,
      {65536 / span}, {1, 0, 16});
  Value entry =
      tableOfUnits(integer, index, [&](double at) { return std::pow(1 + 3 * at, power.exponent); });
  // Of the smallest the table's result is as large as it may be; greater ones move right from
  // there.
  int most = 0;
  while ((smallest << (most + 2)) <= INT32_MAX)
    most += 2;
  constexpr int up = 8; // from 22 bits to 30
  Value distance = power.exponent == -0.5 ? binary(tosa::SubOp(), scalar(most / 2), pairs)
                                          : binary(tosa::SubOp(), scalar(most), shift);
  Value result =
      integer.shiftRight(binary(tosa::LogicalLeftShiftOp(), entry, scalar(up)), distance);
  const double unit =
      std::pow(std::ldexp(step, leading - most), power.exponent) / std::ldexp(unitOfTables, up);
  return {result, unit, std::ldexp(unitOfTables, up)};
}

} // namespace tilewright::quantization
