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

// (value - mean) / sqrt(variance + epsilon) over `axes`.
mlir::Value normalize(FloatBuilder &tosa, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                      float epsilon) {
  mlir::Value centered = tosa.subtract(value, meanOver(tosa, value, axes));
  mlir::Value variance = meanOver(tosa, tosa.multiply(centered, centered), axes);
  return tosa.multiply(centered, inverseDeviation(tosa, variance, epsilon));
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
  mlir::Value normal = normalize(tosa, input, spatial, epsilonOf(node));
  normal = tosa.multiply(normal, perChannel(node, 1, shape[1], rank));
  node.setResult(tosa.add(normal, perChannel(node, 2, shape[1], rank)));
}

static void buildLayerNormalization(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  int64_t rank = node.rank(0);
  std::vector<int64_t> axes;
  for (int64_t axis = node.axis(node.integer("axis", -1), rank); axis < rank; ++axis)
    axes.push_back(axis);
  mlir::Value normal = normalize(tosa, input, axes, epsilonOf(node));
  normal = tosa.multiply(normal, node.floatValue(1));
  if (node.has(2))
    normal = tosa.add(normal, node.floatValue(2));
  if (sizesOf(normal) != sizesOf(input))
    node.fail("scale or bias does not fit the input");
  node.setResult(normal);
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
      {"InstanceNormalization", buildInstanceNormalization},
      {"LayerNormalization", buildLayerNormalization},
      {"LogSoftmax", buildLogSoftmax},
      {"Softmax", buildSoftmax},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
