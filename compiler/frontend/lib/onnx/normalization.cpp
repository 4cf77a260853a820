// Normalizations and softmax.
#include "operators.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

using mlir::tosa::ReduceMaxOp;
using mlir::tosa::ReduceSumOp;

// A vector of one value a channel, in the shape that broadcasts over an NC... tensor of `rank`
// dimensions.
mlir::Value perChannel(NodeImporter &node, size_t input, int64_t channels, int64_t rank) {
  mlir::Value value = node.floatValue(input);
  if (sizesOf(value) != Shape{channels})
    node.fail(fmt::format("input {} has shape {}, and there are {} channels", input,
                          formatShape(sizesOf(value)), channels));
  Shape shape(rank, 1);
  shape[1] = channels;
  return node.tosa().reshape(value, shape);
}

float epsilonOf(NodeImporter &node) {
  float epsilon = node.number("epsilon", 1e-5f);
  if (epsilon < 0)
    node.fail(fmt::format("attribute 'epsilon' is {}", epsilon));
  return epsilon;
}

mlir::Value inverseDeviation(FloatBuilder &tosa, mlir::Value variance, float epsilon) {
  return tosa.unary<mlir::tosa::RsqrtOp>(tosa.addScalar(variance, epsilon));
}

mlir::Value meanOver(FloatBuilder &tosa, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes) {
    count *= sizesOf(value)[axis];
    value = tosa.reduce<ReduceSumOp>(value, axis);
  }
  return tosa.multiplyScalar(value, 1.0f / static_cast<float>(count));
}

// (value - mean) / sqrt(variance + epsilon) over some axes.
struct Normal {
  mlir::Value value, mean, inverseDeviation;
};
Normal normalize(FloatBuilder &tosa, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                 float epsilon) {
  mlir::Value mean = meanOver(tosa, value, axes);
  mlir::Value centered = tosa.subtract(value, mean);
  mlir::Value variance = meanOver(tosa, tosa.multiply(centered, centered), axes);
  mlir::Value inverse = inverseDeviation(tosa, variance, epsilon);
  return {tosa.multiply(centered, inverse), mean, inverse};
}

// All from the attribute's axis on.
std::vector<int64_t> trailingAxes(NodeImporter &node) {
  std::vector<int64_t> axes;
  for (int64_t axis = node.axis(node.integer("axis", -1), node.rank(0)); axis < node.rank(0);
       ++axis)
    axes.push_back(axis);
  return axes;
}

} // namespace

static void buildBatchNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  if (node.flag("training_mode", false))
    node.refuse("training mode is not supported");
  const std::vector<std::string> &outputs = node.node().outputs;
  size_t named = outputs.size() - std::count(outputs.begin(), outputs.end(), "");
  if (named > 1 && node.opset() < 14) // where they alone tell that it trains
    node.refuse("training mode is not supported");
  if (named > 1)
    node.fail(fmt::format("it has {} outputs, and gives 1 where it does not train", named));
  if (!node.flag("spatial", true))
    node.refuse("normalization of each element is not supported");
  mlir::Value input = node.floatValue(0);
  Shape shape = sizesOf(input);
  auto rank = static_cast<int64_t>(shape.size());
  if (rank < 2)
    node.refuse(fmt::format("an input of shape {} has no channels", formatShape(shape)));
  float epsilon = epsilonOf(node);
  if (node.constant(4))
    for (float variance : node.floats(4, "variance"))
      if (!(variance + epsilon > 0))
        node.fail(fmt::format("a variance of {} has no inverse square root", variance));
  mlir::Value scale = perChannel(node, 1, shape[1], rank);
  mlir::Value offset = perChannel(node, 2, shape[1], rank);
  mlir::Value mean = perChannel(node, 3, shape[1], rank);
  mlir::Value variance = perChannel(node, 4, shape[1], rank);
  mlir::Value factor = tosa.multiply(scale, inverseDeviation(tosa, variance, epsilon));
  mlir::Value addend = tosa.subtract(offset, tosa.multiply(mean, factor));
  node.setResult(tosa.add(tosa.multiply(input, factor), addend));
}

static void buildInstanceNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  Shape shape = sizesOf(input);
  auto rank = static_cast<int64_t>(shape.size());
  if (rank < 3)
    node.refuse(fmt::format("an input of shape {} has no spatial dimensions", formatShape(shape)));
  std::vector<int64_t> spatial;
  for (int64_t axis = 2; axis < rank; ++axis)
    spatial.push_back(axis);
  mlir::Value normal = normalize(tosa, input, spatial, epsilonOf(node)).value;
  normal = tosa.multiply(normal, perChannel(node, 1, shape[1], rank));
  node.setResult(tosa.add(normal, perChannel(node, 2, shape[1], rank)));
}

static void buildLayerNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const Normal all = normalize(tosa, input, trailingAxes(node), epsilonOf(node));
  mlir::Value normal = tosa.multiply(all.value, node.floatValue(1));
  if (node.has(2))
    normal = tosa.add(normal, node.floatValue(2));
  if (sizesOf(normal) != sizesOf(input))
    node.fail("scale or bias does not fit the input");
  node.setResult(normal);
  if (node.wants(1))
    node.setResult(all.mean, 1);
  if (node.wants(2))
    node.setResult(all.inverseDeviation, 2);
}

static void buildRMSNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  mlir::Value square = meanOver(tosa, tosa.multiply(input, input), trailingAxes(node));
  mlir::Value normal = tosa.multiply(input, inverseDeviation(tosa, square, epsilonOf(node)));
  normal = tosa.multiply(normal, node.floatValue(1));
  if (sizesOf(normal) != sizesOf(input))
    node.fail("the scale does not fit the input");
  node.setResult(normal);
}

// Over the channels of a group and all positions.
static void buildGroupNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const Shape shape = sizesOf(input);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t groups = node.integer("num_groups", 1);
  if (rank < 2 || groups < 1 || shape[1] % groups != 0)
    node.fail(
        fmt::format("{} groups do not divide a tensor of shape {}", groups, formatShape(shape)));
  Shape grouped = {shape[0], groups, elementCount(shape) / (shape[0] * groups)};
  mlir::Value normal = normalize(tosa, tosa.reshape(input, grouped), {2}, epsilonOf(node)).value;
  // Before opset 21 a scale and a bias are of a group.
  auto spread = [&](size_t parameter) {
    if (node.opset() >= 21)
      return perChannel(node, parameter, shape[1], rank);
    mlir::Value value = tosa.reshape(perChannel(node, parameter, groups, 2), {groups, 1});
    Shape channels(rank, 1);
    channels[1] = shape[1];
    return tosa.reshape(tosa.tile(value, {1, shape[1] / groups}), channels);
  };
  normal = tosa.multiply(tosa.reshape(normal, shape), spread(1));
  node.setResult(tosa.add(normal, spread(2)));
}

static void buildMeanVarianceNormalization(NodeImporter &node) {
  std::vector<int64_t> axes = node.axes(node.integers("axes", {0, 2, 3}), node.rank(0));
  constexpr float epsilon = 1e-9f;
  node.setResult(normalize(node.tosa(), node.floatValue(0), axes, epsilon).value);
}

static void buildLpNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const int64_t axis = node.axis(node.integer("axis", -1), node.rank(0)), p = node.integer("p", 2);
  if (p != 1 && p != 2)
    node.refuse(fmt::format("a norm of order {} is not supported", p));
  mlir::Value powers = p == 1 ? tosa.unary<mlir::tosa::AbsOp>(input) : tosa.multiply(input, input);
  mlir::Value sum = tosa.reduce<ReduceSumOp>(powers, axis);
  constexpr float least = 1e-12f; // what stands for nothing is divided by no zero
  sum = tosa.addScalar(sum, least);
  mlir::Value inverse =
      p == 1 ? tosa.unary<mlir::tosa::ReciprocalOp>(sum) : tosa.unary<mlir::tosa::RsqrtOp>(sum);
  node.setResult(tosa.multiply(input, inverse));
}

// x / (bias + alpha / size * sum of squares of the channels around it) ^ beta
static void buildLRN(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const Shape shape = sizesOf(input);
  const int64_t size = node.integer("size", 1);
  if (shape.size() < 2 || size < 1)
    node.fail("it has no channels, or a size of none");
  const int64_t channels = shape[1], inner = elementCount(shape) / (shape[0] * channels);
  std::vector<float> band(channels * channels, 0);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = std::max<int64_t>(0, c - (size - 1) / 2);
         k <= std::min(channels - 1, c + size / 2); ++k)
      band[k * channels + c] = 1;
  mlir::Value square = tosa.reshape(tosa.multiply(input, input), {shape[0], channels, inner});
  mlir::Value rows =
      tosa.reshape(tosa.transpose(square, {0, 2, 1}), {1, shape[0] * inner, channels});
  mlir::Value sums = tosa.matmul(rows, tosa.constant({1, channels, channels}, band));
  sums = tosa.transpose(tosa.reshape(sums, {shape[0], inner, channels}), {0, 2, 1});
  const float alpha = node.number("alpha", 1e-4f) / static_cast<float>(size);
  mlir::Value base =
      tosa.addScalar(tosa.multiplyScalar(tosa.reshape(sums, shape), alpha), node.number("bias", 1));
  mlir::Value power =
      tosa.binary<mlir::tosa::PowOp>(base, tosa.scalarLike(base, -node.number("beta", 0.75f)));
  node.setResult(tosa.multiply(input, power));
}

// Before opset 13 softmax runs over all dimensions from `axis` on, from there on over `axis` alone.
// Calls `build(value, axis)` on the input in a shape in which the one dimension `axis` is meant.
template <typename Build> static void buildAlongAxis(NodeImporter &node, Build build) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  Shape shape = sizesOf(input);
  auto rank = static_cast<int64_t>(shape.size());
  bool flattens = node.opset() < 13;
  int64_t axis = node.axis(node.integer("axis", flattens ? 1 : -1), rank);
  if (!flattens || axis == rank - 1)
    return node.setResult(build(input, axis));
  auto dims = llvm::ArrayRef<int64_t>(shape);
  mlir::Value flat = tosa.reshape(
      input, {elementCount(dims.take_front(axis)), elementCount(dims.drop_front(axis))});
  node.setResult(tosa.reshape(build(flat, 1), shape));
}

static void buildSoftmax(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  buildAlongAxis(node, [&](mlir::Value value, int64_t axis) {
    mlir::Value shifted = tosa.subtract(value, tosa.reduce<ReduceMaxOp>(value, axis));
    mlir::Value power = tosa.unary<mlir::tosa::ExpOp>(shifted);
    mlir::Value sum = tosa.reduce<ReduceSumOp>(power, axis);
    return tosa.multiply(power, tosa.unary<mlir::tosa::ReciprocalOp>(sum));
  });
}

static void buildLogSoftmax(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  buildAlongAxis(node, [&](mlir::Value value, int64_t axis) {
    mlir::Value shifted = tosa.subtract(value, tosa.reduce<ReduceMaxOp>(value, axis));
    mlir::Value sum = tosa.reduce<ReduceSumOp>(tosa.unary<mlir::tosa::ExpOp>(shifted), axis);
    return tosa.subtract(shifted, tosa.unary<mlir::tosa::LogOp>(sum));
  });
}

llvm::ArrayRef<Operator> normalizationOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"BatchNormalization", buildBatchNormalization},
      {"GroupNormalization", buildGroupNormalization},
      {"InstanceNormalization", buildInstanceNormalization},
      {"LayerNormalization", buildLayerNormalization},
      {"LRN", buildLRN},
      {"LogSoftmax", buildLogSoftmax},
      {"LpNormalization", buildLpNormalization},
      {"MeanVarianceNormalization", buildMeanVarianceNormalization},
      {"RMSNormalization", buildRMSNormalization},
      {"Softmax", buildSoftmax},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
