// Reductions.
#include "operators.h"
#include "window.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

struct Reduction {
  std::vector<int64_t> axes; // sorted
  bool keepDimensions;

  Shape result(const Shape &shape) const {
    Shape kept;
    for (size_t i = 0; i < shape.size(); ++i) {
      bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
      if (!reduced || keepDimensions)
        kept.push_back(reduced ? 1 : shape[i]);
    }
    return kept;
  }
};

Reduction readReduction(NodeImporter &node) {
  int64_t rank = node.rank(0);
  std::vector<int64_t> axes = node.has(1) ? node.integers(1, "axes") : node.integers("axes", {});
  if (axes.empty() && !node.flag("noop_with_empty_axes", false))
    for (int64_t axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
  return {node.axes(axes, rank), node.flag("keepdims", true)};
}

template <typename Op>
mlir::Value reduceAll(NodeImporter &node, const Reduction &reduction, mlir::Value value) {
  for (int64_t axis : reduction.axes)
    value = node.tosa().reduce<Op>(value, axis);
  return value;
}

mlir::Value sumOver(NodeImporter &node, const Reduction &reduction, mlir::Value value) {
  return reduceAll<mlir::tosa::ReduceSumOp>(node, reduction, value);
}

// `Booleans`: what the reduction is on these.
template <typename Op, typename Booleans = Op> void buildReduction(NodeImporter &node) {
  Reduction reduction = readReduction(node);
  mlir::Value value = node.value(0);
  Shape result = reduction.result(sizesOf(value));
  value = node.type(0) == DType::Bool ? reduceAll<Booleans>(node, reduction, value)
                                      : reduceAll<Op>(node, reduction, value);
  node.setResult(node.tosa().reshape(value, result));
}

// A function of the sum of a function of the elements.
template <typename Before, typename After>
void buildSumOf(NodeImporter &node, Before before, After after) {
  Reduction reduction = readReduction(node);
  mlir::Value value = node.value(0);
  if (reduction.axes.empty() && node.flag("noop_with_empty_axes", false))
    return node.setResult(value);
  Shape result = reduction.result(sizesOf(value));
  node.setResult(node.tosa().reshape(after(sumOver(node, reduction, before(value))), result));
}

mlir::Value same(mlir::Value value) { return value; }

} // namespace

static void buildReduceMax(NodeImporter &node) {
  buildReduction<mlir::tosa::ReduceMaxOp, mlir::tosa::ReduceAnyOp>(node);
}
static void buildReduceMin(NodeImporter &node) {
  buildReduction<mlir::tosa::ReduceMinOp, mlir::tosa::ReduceAllOp>(node);
}

static void buildReduceL1(NodeImporter &node) {
  buildSumOf(node, [&](mlir::Value x) { return node.tosa().unary<mlir::tosa::AbsOp>(x); }, same);
}
static void buildReduceL2(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  node.floatValue(0);
  buildSumOf(
      node, [&](mlir::Value x) { return tosa.multiply(x, x); },
      [&](mlir::Value sum) {
        return tosa.unary<mlir::tosa::ReciprocalOp>(tosa.unary<mlir::tosa::RsqrtOp>(sum));
      });
}
static void buildReduceLogSum(NodeImporter &node) {
  node.floatValue(0);
  buildSumOf(node, same,
             [&](mlir::Value sum) { return node.tosa().unary<mlir::tosa::LogOp>(sum); });
}
static void buildReduceSumSquare(NodeImporter &node) {
  buildSumOf(node, [&](mlir::Value x) { return node.tosa().multiply(x, x); }, same);
}

// About the greatest element, so that no exponential overflows.
static void buildReduceLogSumExp(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  Reduction reduction = readReduction(node);
  mlir::Value value = node.floatValue(0);
  mlir::Value greatest = reduceAll<mlir::tosa::ReduceMaxOp>(node, reduction, value);
  mlir::Value power = tosa.unary<mlir::tosa::ExpOp>(tosa.subtract(value, greatest));
  mlir::Value sum = tosa.unary<mlir::tosa::LogOp>(sumOver(node, reduction, power));
  node.setResult(tosa.reshape(tosa.add(sum, greatest), reduction.result(sizesOf(value))));
}

// One slice times the next.
static void buildReduceProd(NodeImporter &node) {
  constexpr int64_t longest = 16;
  FloatBuilder &tosa = node.tosa();
  Reduction reduction = readReduction(node);
  mlir::Value value = node.value(0);
  Shape result = reduction.result(sizesOf(value));
  for (int64_t axis : reduction.axes) {
    const int64_t length = sizesOf(value)[axis];
    if (length > longest)
      node.refuse(fmt::format("a product along {} elements is not supported", length));
    mlir::Value product = tosa.sliceAxis(value, axis, 0, 1);
    for (int64_t i = 1; i < length; ++i)
      product = tosa.multiply(product, tosa.sliceAxis(value, axis, i, 1));
    value = product;
  }
  node.setResult(tosa.reshape(value, result));
}
static void buildReduceSum(NodeImporter &node) { buildReduction<mlir::tosa::ReduceSumOp>(node); }

// A mean over rows and columns is an average pool, which has an exact integer form.
static void buildReduceMean(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  Reduction reduction = readReduction(node);
  mlir::Value value = node.floatValue(0);
  Shape shape = sizesOf(value), result = reduction.result(shape);
  if (shape.size() == 4 && reduction.axes == std::vector<int64_t>{2, 3}) {
    value = fromChannelsLast(node, averageImage(node, toChannelsLast(node, value)), 4);
  } else if (shape.size() == 4 && reduction.axes == std::vector<int64_t>{1, 2}) {
    value = averageImage(node, value);
  } else {
    int64_t count = 1;
    for (int64_t axis : reduction.axes) {
      count *= shape[axis];
      value = tosa.reduce<mlir::tosa::ReduceSumOp>(value, axis);
    }
    value = tosa.multiplyScalar(value, 1.0f / static_cast<float>(count));
  }
  node.setResult(tosa.reshape(value, result));
}

llvm::ArrayRef<Operator> reductionOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"ReduceL1", buildReduceL1},
      {"ReduceL2", buildReduceL2},
      {"ReduceLogSum", buildReduceLogSum},
      {"ReduceLogSumExp", buildReduceLogSumExp},
      {"ReduceMax", buildReduceMax},
      {"ReduceMean", buildReduceMean},
      {"ReduceMin", buildReduceMin},
      {"ReduceProd", buildReduceProd},
      {"ReduceSum", buildReduceSum},
      {"ReduceSumSquare", buildReduceSumSquare},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
