// Functions of one element.
#include "operators.h"

#include <cmath>

namespace tilewright::onnx_import {

namespace {

template <typename Op> void buildUnary(NodeImporter &node) {
  node.setResult(node.tosa().unary<Op>(node.floatValue(0)));
}

template <typename Integers, typename Floats>
void foldUnary(NodeImporter &node, Integers integers, Floats floats) {
  const Tensor &a = node.known(0, "input");
  node.checkFold(a.shape, a.dtype);
  node.setResult(mapElements(
      a, a, a.shape, a.dtype, [&](int64_t x, int64_t) { return integers(x); },
      [&](double x, double) { return floats(x); }));
}

int64_t same(int64_t x) { return x; }
int64_t negated(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

} // namespace

static void buildAbs(NodeImporter &node) { buildUnary<mlir::tosa::AbsOp>(node); }
static void foldAbs(NodeImporter &node) {
  foldUnary(
      node, [](int64_t x) { return x < 0 ? negated(x) : x; },
      [](double x) { return std::fabs(x); });
}

static void buildCeil(NodeImporter &node) { buildUnary<mlir::tosa::CeilOp>(node); }
static void foldCeil(NodeImporter &node) {
  foldUnary(node, same, [](double x) { return std::ceil(x); });
}

static void buildErf(NodeImporter &node) { buildUnary<mlir::tosa::ErfOp>(node); }
static void buildExp(NodeImporter &node) { buildUnary<mlir::tosa::ExpOp>(node); }

static void buildFloor(NodeImporter &node) { buildUnary<mlir::tosa::FloorOp>(node); }
static void foldFloor(NodeImporter &node) {
  foldUnary(node, same, [](double x) { return std::floor(x); });
}

static void buildLog(NodeImporter &node) { buildUnary<mlir::tosa::LogOp>(node); }

static void buildNeg(NodeImporter &node) {
  node.setResult(node.tosa().multiplyScalar(node.floatValue(0), -1));
}
static void foldNeg(NodeImporter &node) {
  foldUnary(node, negated, [](double x) { return -x; });
}

static void buildReciprocal(NodeImporter &node) { buildUnary<mlir::tosa::ReciprocalOp>(node); }

// TOSA has no square root; the reciprocal of its reciprocal also maps 0 to 0 and infinity to
// infinity.
static void buildSqrt(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value inverse = tosa.unary<mlir::tosa::RsqrtOp>(node.floatValue(0));
  node.setResult(tosa.unary<mlir::tosa::ReciprocalOp>(inverse));
}
static void foldSqrt(NodeImporter &node) {
  foldUnary(
      node,
      [](int64_t x) {
        return static_cast<int64_t>(std::sqrt(static_cast<double>(std::max<int64_t>(x, 0))));
      },
      [](double x) { return std::sqrt(x); });
}

llvm::ArrayRef<Operator> unaryOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Abs", buildAbs, foldAbs},
      {"Ceil", buildCeil, foldCeil},
      {"Erf", buildErf},
      {"Exp", buildExp},
      {"Floor", buildFloor, foldFloor},
      {"Log", buildLog},
      {"Neg", buildNeg, foldNeg},
      {"Reciprocal", buildReciprocal},
      {"Sqrt", buildSqrt, foldSqrt},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
