#include "integer_softmax.h"

#include "assign.h"
#include "graph_queries.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

constexpr int tableEntries = 513;
constexpr int tableOnes = 32767;     // what stands for 1 in both tables
constexpr int interpolationBits = 7; // a table's result has so many more bits than its entries
constexpr double deepest = 16;       // exp(-16) is 1e-7: below the result's last bit
constexpr int sumBits = 30;          // of the greatest sum that is safe

// A table over [0, 1] of its argument, spread over all 16-bit integers.
template <typename F> Value buildTable(IntegerBuilder &builder, Value index, F function) {
  std::vector<int64_t> entries;
  for (int i = 0; i < tableEntries; ++i)
    entries.push_back(std::lround(tableOnes * function(double(i) / (tableEntries - 1))));
  return tosa::TableOp::create(builder.builder(), builder.location(),
                               builder.type(tensorType(index).getShape(), 32), index,
                               builder.constant({tableEntries}, 16, entries));
}

int64_t logTwoCeil(int64_t count) {
  int64_t bits = 0;
  while ((int64_t(1) << bits) < count)
    ++bits;
  return bits;
}

} // namespace

Value buildSoftmax(IntegerBuilder &builder, Value logits, int64_t axis, const Parameters &output) {
  const Parameters narrow = {1, 0, 16};
  constexpr double logitSteps =
      deepest / logitScale; // steps of the logits' scale in the table's domain
  constexpr double indices = 65536;

  Value greatest = builder.reduce<tosa::ReduceMaxOp>(logits, axis);
  Value difference = builder.binary<tosa::SubOp>(logits, greatest);
  Value centered = builder.binary<tosa::AddOp>(
      difference, builder.scalarLike(difference, 32, static_cast<int64_t>(logitSteps / 2)));
  Value powerIndex = builder.rescale(centered, 0, {indices / logitSteps}, narrow);
  Value power =
      buildTable(builder, powerIndex, [](double x) { return std::exp(deepest * (x - 1)); });

  constexpr int powerBits = 15 + interpolationBits;
  int64_t spare =
      std::max<int64_t>(0, powerBits + logTwoCeil(tensorType(logits).getShape()[axis]) - sumBits);
  Value summand = power;
  if (spare > 0)
    summand = builder.shiftRight(power, builder.scalarLike(power, 32, spare));
  Value sum = builder.reduce<tosa::ReduceSumOp>(summand, axis);

  // The sum's leading one moves to bit 30; what stands below it indexes the table of reciprocals.
  Value leadingZeros =
      tosa::ClzOp::create(builder.builder(), builder.location(), sum.getType(), sum);
  Value headroom = builder.binary<tosa::SubOp>(leadingZeros, builder.scalarLike(sum, 32, 1));
  Value mantissa = builder.binary<tosa::LogicalLeftShiftOp>(sum, headroom);
  constexpr int64_t one = int64_t(1) << 30;
  Value fraction =
      builder.binary<tosa::SubOp>(mantissa, builder.scalarLike(sum, 32, one + one / 2));
  Value inverseIndex = builder.rescale(fraction, 0, {indices / one}, narrow);
  Value inverse = buildTable(builder, inverseIndex, [](double x) { return 1 / (1 + x); });

  // e / s = e * inverse * 2^(headroom - 30). Since s is at least the greatest power, headroom is at
  // most 30 - powerBits + spare + 1.
  constexpr int productShift = 2 * powerBits - 30;
  Value product = builder.multiply(power, inverse, productShift);
  int64_t mostHeadroom = 30 - powerBits + 1 + spare;
  Value shift =
      builder.binary<tosa::SubOp>(builder.scalarLike(headroom, 32, mostHeadroom), headroom);
  Value quotient = builder.shiftRight(product, shift);
  // Both tables hold `tableOnes` for 1; interpolation adds its bits to both.
  double inverseOne = tableOnes * std::ldexp(1.0, interpolationBits);
  double factor = std::ldexp(1.0, productShift) *
                  std::ldexp(1.0, static_cast<int>(mostHeadroom) - 30) / inverseOne *
                  std::ldexp(1.0, -static_cast<int>(spare));
  return builder.rescale(quotient, 0, {factor / output.scale}, output);
}

} // namespace tilewright::quantization
