// Comparisons, logic, and Where.
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

llvm::ArrayRef<Operator> comparisonOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"And", buildAnd},
      {"Equal", buildEqual},
      {"Greater", buildGreater},
      {"GreaterOrEqual", buildGreaterOrEqual},
      {"Less", buildLess},
      {"LessOrEqual", buildLessOrEqual},
      {"Not", buildNot},
      {"Or", buildOr},
      {"Where", buildWhere},
      {"Xor", buildXor},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
