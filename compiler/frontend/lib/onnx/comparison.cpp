// Comparisons, logic on constants, and Where.
#include "operators.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

using mlir::tosa::EqualOp;
using mlir::tosa::GreaterEqualOp;
using mlir::tosa::GreaterOp;

template <typename Op> void buildComparison(NodeImporter &node, size_t left, size_t right) {
  node.setResult(node.tosa().compare<Op>(node.value(left), node.value(right)));
}

template <typename Op> void buildLogical(NodeImporter &node) {
  node.setResult(node.tosa().binary<Op>(node.boolValue(0), node.boolValue(1)));
}

Shape commonShape(NodeImporter &node, const Shape &a, const Shape &b) {
  std::optional<Shape> shape = broadcastShapes(a, b);
  if (!shape)
    node.fail(
        fmt::format("shapes {} and {} do not fit each other", formatShape(a), formatShape(b)));
  return *shape;
}

template <typename Compare> void foldComparison(NodeImporter &node, Compare compare) {
  const Tensor &a = node.known(0, "input"), &b = node.known(1, "input");
  Shape shape = commonShape(node, a.shape, b.shape);
  node.checkFold(shape, DType::Bool);
  node.setResult(mapElements(a, b, shape, DType::Bool, compare, compare));
}

} // namespace

static void buildEqual(NodeImporter &node) {
  if (node.type(0) != DType::Bool)
    return buildComparison<EqualOp>(node, 0, 1);
  FloatBuilder &tosa = node.tosa();
  node.setResult(
      tosa.logicalNot(tosa.binary<mlir::tosa::LogicalXorOp>(node.boolValue(0), node.boolValue(1))));
}
static void buildAnd(NodeImporter &node) { buildLogical<mlir::tosa::LogicalAndOp>(node); }
static void buildOr(NodeImporter &node) { buildLogical<mlir::tosa::LogicalOrOp>(node); }
static void buildXor(NodeImporter &node) { buildLogical<mlir::tosa::LogicalXorOp>(node); }
static void buildNot(NodeImporter &node) {
  node.setResult(node.tosa().logicalNot(node.boolValue(0)));
}
static void buildGreater(NodeImporter &node) { buildComparison<GreaterOp>(node, 0, 1); }
static void buildGreaterOrEqual(NodeImporter &node) { buildComparison<GreaterEqualOp>(node, 0, 1); }
static void buildLess(NodeImporter &node) { buildComparison<GreaterOp>(node, 1, 0); }
static void buildLessOrEqual(NodeImporter &node) { buildComparison<GreaterEqualOp>(node, 1, 0); }

static void foldEqual(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a == b; });
}
static void foldGreater(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a > b; });
}
static void foldGreaterOrEqual(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a >= b; });
}
static void foldLess(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a < b; });
}
static void foldLessOrEqual(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a <= b; });
}
static void foldAnd(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a != 0 && b != 0; });
}
static void foldOr(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return a != 0 || b != 0; });
}

static void foldXor(NodeImporter &node) {
  foldComparison(node, [](auto a, auto b) { return (a != 0) != (b != 0); });
}

static void foldNot(NodeImporter &node) {
  const Tensor &a = node.known(0, "input");
  node.checkFold(a.shape, DType::Bool);
  Tensor result = makeTensor(DType::Bool, a.shape);
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    setInteger(result, i, integerAt(a, i) == 0);
  node.setResult(std::move(result));
}

static void buildWhere(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  const bool isFloats = node.isFloats(1);
  mlir::Value a = isFloats ? node.maskedValue(1) : node.value(1);
  mlir::Value b = isFloats ? node.maskedValue(2) : node.value(2), condition;
  if (const Tensor *known = node.constant(0); known && isFloats) {
    // As a comparison of a float constant, which folds away.
    mlir::Value mask = tosa.constant(castTensor(*known, DType::F32));
    condition = tosa.compare<GreaterOp>(mask, tosa.scalarLike(mask, 0));
  } else {
    condition = node.boolValue(0);
  }
  node.setResult(tosa.select(condition, a, b));
}

static void foldWhere(NodeImporter &node) {
  const Tensor &condition = node.known(0, "condition");
  const Tensor &a = node.known(1, "input"), &b = node.known(2, "input");
  Shape shape = commonShape(node, commonShape(node, a.shape, b.shape), condition.shape);
  node.checkFold(shape, a.dtype);
  Tensor mask = stridedCopy(condition, shape, 0, broadcastStrides(condition.shape, shape));
  Tensor result = stridedCopy(a, shape, 0, broadcastStrides(a.shape, shape));
  Tensor other = stridedCopy(b, shape, 0, broadcastStrides(b.shape, shape));
  int64_t width = byteSize(result.dtype);
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    if (integerAt(mask, i) == 0)
      std::copy_n(other.bytes.data() + i * width, width, result.bytes.data() + i * width);
  node.setResult(std::move(result));
}

llvm::ArrayRef<Operator> comparisonOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"And", buildAnd, foldAnd},
      {"Equal", buildEqual, foldEqual},
      {"Greater", buildGreater, foldGreater},
      {"GreaterOrEqual", buildGreaterOrEqual, foldGreaterOrEqual},
      {"Less", buildLess, foldLess},
      {"LessOrEqual", buildLessOrEqual, foldLessOrEqual},
      {"Not", buildNot, foldNot},
      {"Or", buildOr, foldOr},
      {"Where", buildWhere, foldWhere},
      {"Xor", buildXor, foldXor},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
