#include "integer_average.h"

#include "narrowing.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace mlir;

namespace tilewright::quantization {

// How many windows an image is averaged in, down and across: at least `leastWindows` of them where
// its size allows.
static std::pair<int64_t, int64_t> windowsOf(int64_t height, int64_t width) {
  constexpr int64_t leastWindows = 12; // for scratchpads to hold a window
  std::pair<int64_t, int64_t> best = {height, width};
  for (int64_t rows = 1; rows <= height; ++rows)
    for (int64_t columns = 1; columns <= width; ++columns)
      if (height % rows == 0 && width % columns == 0 && rows * columns >= leastWindows &&
          rows * columns < best.first * best.second)
        best = {rows, columns};
  return best;
}

// Of each channel by itself: a depthwise convolution with weights of 1.
static Value sumWindows(IntegerBuilder &integer, const Quantized &x, ArrayRef<int64_t> kernel,
                        ArrayRef<int64_t> stride, ArrayRef<int64_t> pad, ArrayRef<int64_t> result) {
  OpBuilder &builder = integer.builder();
  const int64_t channels = result[3], count = kernel[0] * kernel[1] * channels;
  return tosa::DepthwiseConv2DOp::create(
      builder, integer.location(), integer.type(result, 32), x.value,
      integer.constant({kernel[0], kernel[1], channels, 1}, 8, std::vector<int64_t>(count, 1)),
      integer.constant({channels}, 32, std::vector<int64_t>(channels, 0)),
      integer.constant({1}, 8, {x.parameters.zeroPoint}), integer.constant({1}, 8, {0}),
      builder.getDenseI64ArrayAttr(pad), builder.getDenseI64ArrayAttr(stride),
      builder.getDenseI64ArrayAttr({1, 1}), TypeAttr::get(builder.getI32Type()));
}

// How many elements of the image each window along an axis holds.
static std::vector<int64_t> countsAlong(tosa::AvgPool2dOp pool, int axis) {
  const int64_t size = tensorType(pool.getInput()).getShape()[1 + axis],
                windows = tensorType(pool.getOutput()).getShape()[1 + axis],
                kernel = pool.getKernel()[axis];
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t first = i * pool.getStride()[axis] - pool.getPad()[size_t{2} * axis];
    counts.push_back(std::min(first + kernel, size) - std::max<int64_t>(first, 0));
  }
  return counts;
}

// The least number that all windows' sizes divide.
static int64_t commonSize(tosa::AvgPool2dOp pool) {
  int64_t common[2] = {1, 1};
  for (int axis : {0, 1})
    for (int64_t count : countsAlong(pool, axis))
      common[axis] = std::lcm(common[axis], count);
  return common[0] * common[1];
}

bool hasExactMean(tosa::AvgPool2dOp pool) {
  constexpr int64_t most = 1 << 18; // of 8 bits, in 32
  return !isGlobalAverage(pool) && commonSize(pool) <= most;
}

Sum averageWindows(IntegerBuilder &integer, const Quantized &x, tosa::AvgPool2dOp pool) {
  const int64_t common = commonSize(pool);
  const std::vector<int64_t> rows = countsAlong(pool, 0), columns = countsAlong(pool, 1);
  ArrayRef<int64_t> shape = tensorType(pool.getOutput()).getShape();
  Value sum = sumWindows(integer, x, pool.getKernel(), pool.getStride(), pool.getPad(), shape);
  int64_t divisor = rows[0] * columns[0];
  if (!llvm::all_equal(rows) || !llvm::all_equal(columns)) {
    divisor = common;
    std::vector<int64_t> factors;
    for (int64_t row : rows)
      for (int64_t column : columns)
        factors.push_back(common / (row * column));
    sum = integer.multiply(sum, integer.constant({1, shape[1], shape[2], 1}, 32, factors));
  }
  const auto elements = double(divisor);
  return {sum, x.parameters.scale / elements, x.parameters.magnitude() * elements};
}

Accumulator averageImage(IntegerBuilder &integer, Quantized x, Value real,
                         const Statistics &statistics) {
  std::vector<double> channels = statistics.channelFactors.lookup(real);
  if (x.parameters.bits > 8) {
    channels = channelFactors(statistics.observed.ranges.find(real)->second, 1);
    x = narrowed(integer, x, channels,
                 narrowedParameters(statistics, real, channels, Precision::Extended));
  }
  ArrayRef<int64_t> shape = tensorType(x.value).getShape();
  auto [rows, columns] = windowsOf(shape[1], shape[2]);
  Value sum;
  if (rows == shape[1] && columns == shape[2]) {
    sum = integer.widen(x.value, x.parameters);
  } else {
    const int64_t kernel[] = {shape[1] / rows, shape[2] / columns};
    sum = sumWindows(integer, x, kernel, kernel, {0, 0, 0, 0}, {shape[0], rows, columns, shape[3]});
  }
  if (rows > 1)
    sum = integer.reduce<tosa::ReduceSumOp>(sum, 1);
  if (columns > 1)
    sum = integer.reduce<tosa::ReduceSumOp>(sum, 2);
  double pixels = double(shape[1] * shape[2]), scale = x.parameters.scale / pixels;
  Accumulator result{sum, {scale}, {x.parameters.magnitude() * pixels}};
  if (!channels.empty()) {
    result.scales.clear();
    for (double channel : channels)
      result.scales.push_back(scale / channel);
    result.magnitudes.resize(channels.size(), result.magnitudes[0]);
  }
  return result;
}

} // namespace tilewright::quantization
