#include "wide_windows.h"

#include "dims.h"
#include "tilewright/compiler/tosa/moves.h"

#include <algorithm>

namespace tilewright {

namespace tosa = mlir::tosa;
using mlir::Value;
using quantization::IntegerBuilder;
using quantization::Parameters;
using Numbers = llvm::SmallVector<int64_t>;

static Value widened(IntegerBuilder &integer, Value value) {
  return tosa::CastOp::create(integer.builder(), integer.location(),
                              integer.type(dimsOf(value), 32), value);
}

SplitActivations splitActivations(IntegerBuilder &integer, Value value) {
  WideBuilder wide(integer);
  const Value whole = widened(integer, value);
  const Value high = wide.shiftRight(whole, SplitActivations::highShift);
  const Value rest =
      integer.binary<tosa::SubOp>(whole, wide.shiftLeft(high, SplitActivations::highShift));
  return {integer.rescale(high, 0, {1}, Parameters{1, 0, 8}),
          integer.rescale(rest, 0, {1}, Parameters{1, SplitActivations::lowZero, 8})};
}

// Every `stride`-th window of so many elements along an axis: the greatest of twice as many are the
// greater of two windows' greatest.
static Value greatestAlong(IntegerBuilder &integer, Value value, int64_t axis, int64_t window,
                           int64_t stride) {
  for (int64_t seen = 1; seen < window;) {
    const int64_t step = std::min(seen, window - seen), length = shapeOf(value)[axis] - step;
    const auto from = [&](int64_t start) {
      return makeSliceOfAxis(integer.builder(), integer.location(), value, axis, start, length);
    };
    value = integer.binary<tosa::MaximumOp>(from(0), from(step));
    seen += step;
  }
  Numbers taken;
  for (int64_t i = 0; i < shapeOf(value)[axis]; i += stride)
    taken.push_back(i);
  return makeGatherOfAxis(integer.builder(), integer.location(), value, axis, taken);
}

Value decomposeMaxPool(IntegerBuilder &integer, tosa::MaxPool2dOp op) {
  llvm::ArrayRef<int64_t> pad = op.getPad();
  const Parameters narrow{1, 0, 16};
  Value value = makePad(integer.builder(), integer.location(), widened(integer, op.getInput()),
                        {0, 0, pad[0], pad[1], pad[2], pad[3], 0, 0},
                        integer.constant({1}, 32, {narrow.least()}));
  for (int64_t i : {0, 1})
    value = greatestAlong(integer, value, i + 1, op.getKernel()[i], op.getStride()[i]);
  return integer.rescale(value, 0, {1}, narrow);
}

// How many elements of the input each window along an axis has.
static Numbers countsAlong(int64_t inputs, int64_t outputs, int64_t window, int64_t stride,
                           int64_t padBefore) {
  Numbers counts;
  for (int64_t i = 0; i < outputs; ++i) {
    const int64_t start = i * stride - padBefore;
    counts.push_back(std::min(start + window, inputs) - std::max<int64_t>(start, 0));
  }
  return counts;
}

// TOSA 1.0, reciprocal_scale: sum / count as a rescale.
struct Reciprocal {
  explicit Reciprocal(int64_t count) {
    int bits = 0;
    while (int64_t(1) << bits < count)
      ++bits;
    multiplier = (((int64_t(1) << 30) + 1) << bits) / count;
    shift = 30 + bits;
  }
  int64_t multiplier, shift;
};

// The sums of windows, divided by counts: one, or one for each position of an image.
static Value divided(IntegerBuilder &integer, Value sums, llvm::ArrayRef<int64_t> counts) {
  mlir::OpBuilder &builder = integer.builder();
  const mlir::Location location = integer.location();
  Numbers multipliers, shifts;
  for (int64_t count : counts) {
    const Reciprocal reciprocal(count);
    multipliers.push_back(reciprocal.multiplier);
    shifts.push_back(reciprocal.shift);
  }
  const auto size = static_cast<int64_t>(counts.size());
  const auto rescaled = [&](Value value) -> Value {
    return tosa::RescaleOp::create(
        builder, location, integer.type(dimsOf(value), 16), value,
        integer.constant({size}, 32, multipliers), integer.constant({size}, 8, shifts),
        integer.constant({1}, 32, {0}), integer.constant({1}, 16, {0}), /*scale32=*/true,
        tosa::RoundingMode::SINGLE_ROUND, /*per_channel=*/size > 1, /*input_unsigned=*/false,
        /*output_unsigned=*/false);
  };
  if (size == 1)
    return rescaled(sums);
  // A rescale has a factor for each index of the last dimension: positions take its place.
  const Dims shape = dimsOf(sums);
  Value rows = makeReshape(builder, location, sums, {shape[0], size, shape[3]});
  rows = rescaled(makeTranspose(builder, location, rows, {0, 2, 1}));
  return makeReshape(builder, location, makeTranspose(builder, location, rows, {0, 2, 1}), shape);
}

Value decomposeAveragePool(IntegerBuilder &integer, tosa::AvgPool2dOp op) {
  llvm::ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(), pad = op.getPad();
  constexpr int64_t mostElements = int64_t(1) << 16; // of 16 bits whose sum 32 bits hold
  if (kernel[0] > mostElements / kernel[1])
    return nullptr;
  const Dims input = dimsOf(op.getInput()), output = dimsOf(op.getOutput());
  const int64_t channels = input[3];
  mlir::OpBuilder &builder = integer.builder();
  // A depthwise convolution with weights of 1 sums up windows.
  const auto sumOf = [&](Value part, int64_t zero) -> Value {
    return tosa::DepthwiseConv2DOp::create(
        builder, integer.location(), integer.type(output, 32), part,
        integer.constant({kernel[0], kernel[1], channels, 1}, 8, {1}),
        integer.constant({channels}, 32, {0}), integer.constant({1}, 8, {zero}),
        integer.constant({1}, 8, {0}), op.getPadAttr(), op.getStrideAttr(),
        builder.getDenseI64ArrayAttr({1, 1}), mlir::TypeAttr::get(builder.getI32Type()));
  };
  const SplitActivations parts = splitActivations(integer, op.getInput());
  const Value high =
      WideBuilder(integer).shiftLeft(sumOf(parts.high, 0), SplitActivations::highShift);
  const Value sums = integer.binary<tosa::AddOp>(high, sumOf(parts.low, SplitActivations::lowZero));
  Numbers counts;
  for (int64_t down : countsAlong(input[1], output[1], kernel[0], stride[0], pad[0]))
    for (int64_t across : countsAlong(input[2], output[2], kernel[1], stride[1], pad[2]))
      counts.push_back(down * across);
  if (llvm::all_equal(counts))
    counts.resize(1);
  return divided(integer, sums, counts);
}

namespace {

// TOSA 1.0, RESIZE, BILINEAR along one axis: which two inputs an output lies between, and how much
// each of them counts for.
struct Between {
  Numbers before, behind;
  llvm::SmallVector<int64_t> weightBefore, weightBehind;

  Between(int64_t inputs, int64_t outputs, int64_t numerator, int64_t denominator, int64_t offset) {
    for (int64_t i = 0; i < outputs; ++i) {
      const int64_t at = i * denominator + offset;
      const int64_t index = at / numerator - (at % numerator < 0);
      const int64_t rest = at - index * numerator;
      before.push_back(std::clamp<int64_t>(index, 0, inputs - 1));
      behind.push_back(std::clamp<int64_t>(index + 1, 0, inputs - 1));
      weightBefore.push_back(numerator - rest);
      weightBehind.push_back(rest);
    }
  }
};

} // namespace

// Of `value`, [N, H, W, C] of at most 32 bits, in 32 bits.
static Value mixedAlong(IntegerBuilder &integer, Value value, int64_t axis,
                        const Between &between) {
  const auto weighted = [&](llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> weights) {
    Dims shape(shapeOf(value).size(), 1);
    shape[axis] = static_cast<int64_t>(weights.size());
    const Value taken = makeGatherOfAxis(integer.builder(), integer.location(), value, axis, from);
    return integer.multiply(taken, integer.constant(shape, 32, weights));
  };
  return integer.binary<tosa::AddOp>(weighted(between.before, between.weightBefore),
                                     weighted(between.behind, between.weightBehind));
}

llvm::SmallVector<WideTerm> decomposeBilinear(IntegerBuilder &integer, tosa::ResizeOp op) {
  const Dims input = dimsOf(op.getInput()), output = dimsOf(op.getOutput());
  const Numbers scale = *constantIntegers(op.getScale()),
                offset = *constantIntegers(op.getOffset());
  const Between rows(input[1], output[1], scale[0], scale[1], offset[0]),
      columns(input[2], output[2], scale[2], scale[3], offset[1]);
  const Value mixed = mixedAlong(integer, widened(integer, op.getInput()), 1, rows);
  if (elementOf(op.getInput()).isInteger(8))
    return {{mixedAlong(integer, mixed, 2, columns), 0}};
  // Factors have at most 2^11: what is mixed of 16 bits has 27, each of its parts at most 16.
  constexpr int lowBits = 12;
  WideBuilder wide(integer);
  const Value high = wide.shiftRight(mixed, lowBits);
  const Value low = integer.binary<tosa::SubOp>(mixed, wide.shiftLeft(high, lowBits));
  return {{mixedAlong(integer, high, 2, columns), lowBits},
          {mixedAlong(integer, low, 2, columns), 0}};
}

} // namespace tilewright
