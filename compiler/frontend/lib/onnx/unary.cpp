// Functions of one element.
#include "operators.h"

#include <cmath>

namespace tilewright::onnx_import {

namespace {

template <typename Op> void buildUnary(NodeImporter &node) {
  node.setResult(node.tosa().unary<Op>(node.floatValue(0)));
}

} // namespace

static void buildAbs(NodeImporter &node) {
  node.setResult(node.tosa().unary<mlir::tosa::AbsOp>(node.value(0)));
}
static void buildCeil(NodeImporter &node) { buildUnary<mlir::tosa::CeilOp>(node); }
static void buildErf(NodeImporter &node) { buildUnary<mlir::tosa::ErfOp>(node); }
static void buildExp(NodeImporter &node) { buildUnary<mlir::tosa::ExpOp>(node); }

static void buildFloor(NodeImporter &node) { buildUnary<mlir::tosa::FloorOp>(node); }
static void buildLog(NodeImporter &node) { buildUnary<mlir::tosa::LogOp>(node); }

static void buildNeg(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  if (!node.isFloats(0))
    return node.setResult(tosa.subtract(tosa.integerLike(node.value(0), 0), node.value(0)));
  node.setResult(tosa.multiplyScalar(node.floatValue(0), -1));
}
static void buildReciprocal(NodeImporter &node) { buildUnary<mlir::tosa::ReciprocalOp>(node); }

// TOSA has no square root; the reciprocal of its reciprocal also maps 0 to 0 and infinity to
// infinity.
static void buildSqrt(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value inverse = tosa.unary<mlir::tosa::RsqrtOp>(node.floatValue(0));
  node.setResult(tosa.unary<mlir::tosa::ReciprocalOp>(inverse));
}
// Half to even.
static void buildRound(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value up = tosa.unary<mlir::tosa::FloorOp>(tosa.addScalar(x, 0.5f));
  mlir::Value half = tosa.unary<mlir::tosa::FloorOp>(tosa.multiplyScalar(up, 0.5f));
  mlir::Value odd = tosa.subtract(up, tosa.multiplyScalar(half, 2));
  mlir::Value distance = tosa.subtract(up, x);
  mlir::Value isTie = tosa.compare<mlir::tosa::EqualOp>(distance, tosa.scalarLike(x, 0.5f));
  node.setResult(tosa.select(isTie, tosa.subtract(up, odd), up));
}

static void buildSign(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.value(0);
  if (!node.isFloats(0)) {
    x = tosa.binary<mlir::tosa::MinimumOp>(x, tosa.integerLike(x, 1));
    return node.setResult(tosa.binary<mlir::tosa::MaximumOp>(x, tosa.integerLike(x, -1)));
  }
  mlir::Value zero = tosa.scalarLike(x, 0);
  mlir::Value isAbove = tosa.compare<mlir::tosa::GreaterOp>(x, zero);
  mlir::Value isBelow = tosa.compare<mlir::tosa::GreaterOp>(zero, x);
  mlir::Value below = tosa.select(isBelow, tosa.scalarLike(x, -1), zero);
  node.setResult(tosa.select(isAbove, tosa.scalarLike(x, 1), below));
}

// --- Functions of angles

static mlir::Value squareRoot(FloatBuilder &tosa, mlir::Value x) {
  return tosa.unary<mlir::tosa::ReciprocalOp>(tosa.unary<mlir::tosa::RsqrtOp>(x));
}

// A polynomial of the lesser one of |x| and its inverse, off by 1e-5 at most.
static mlir::Value arcTangent(FloatBuilder &tosa, mlir::Value x) {
  constexpr float coefficients[] = {-0.01172120f, 0.05265332f,  -0.11643287f,
                                    0.19354346f,  -0.33262347f, 0.99997726f};
  constexpr float quarter = 1.57079632679f;
  mlir::Value magnitude = tosa.unary<mlir::tosa::AbsOp>(x);
  mlir::Value isLarge = tosa.compare<mlir::tosa::GreaterOp>(magnitude, tosa.scalarLike(x, 1));
  mlir::Value z = tosa.select(isLarge, tosa.unary<mlir::tosa::ReciprocalOp>(magnitude), magnitude);
  mlir::Value square = tosa.multiply(z, z);
  mlir::Value sum = tosa.multiplyScalar(square, coefficients[0]);
  for (float coefficient : llvm::ArrayRef(coefficients).drop_front().drop_back())
    sum = tosa.multiply(tosa.addScalar(sum, coefficient), square);
  sum = tosa.multiply(tosa.addScalar(sum, coefficients[5]), z);
  mlir::Value rest = tosa.addScalar(tosa.multiplyScalar(sum, -1), quarter);
  mlir::Value angle = tosa.select(isLarge, rest, sum);
  mlir::Value isBelow = tosa.compare<mlir::tosa::GreaterOp>(tosa.scalarLike(x, 0), x);
  return tosa.select(isBelow, tosa.multiplyScalar(angle, -1), angle);
}

static mlir::Value arcSine(FloatBuilder &tosa, mlir::Value x) {
  mlir::Value square = tosa.multiplyScalar(tosa.multiply(x, x), -1);
  mlir::Value inverse = tosa.unary<mlir::tosa::RsqrtOp>(tosa.addScalar(square, 1));
  return arcTangent(tosa, tosa.multiply(x, inverse));
}

// exp(x) + sign * exp(-x), halved
static mlir::Value hyperbolic(FloatBuilder &tosa, mlir::Value x, float sign) {
  mlir::Value power = tosa.unary<mlir::tosa::ExpOp>(x);
  mlir::Value inverse = tosa.unary<mlir::tosa::ExpOp>(tosa.multiplyScalar(x, -1));
  return tosa.multiplyScalar(tosa.add(power, tosa.multiplyScalar(inverse, sign)), 0.5f);
}

// log(x + sqrt(x^2 + addend))
static mlir::Value areaOf(FloatBuilder &tosa, mlir::Value x, float addend) {
  mlir::Value root = squareRoot(tosa, tosa.addScalar(tosa.multiply(x, x), addend));
  return tosa.unary<mlir::tosa::LogOp>(tosa.add(x, root));
}

static void buildAcos(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  constexpr float quarter = 1.57079632679f;
  mlir::Value angle = tosa.multiplyScalar(arcSine(tosa, node.floatValue(0)), -1);
  node.setResult(tosa.addScalar(angle, quarter));
}
static void buildAcosh(NodeImporter &node) {
  node.setResult(areaOf(node.tosa(), node.floatValue(0), -1));
}
static void buildAsin(NodeImporter &node) {
  node.setResult(arcSine(node.tosa(), node.floatValue(0)));
}
static void buildAsinh(NodeImporter &node) { // odd: no difference of numbers that are nearly alike
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value area = areaOf(tosa, tosa.unary<mlir::tosa::AbsOp>(x), 1);
  mlir::Value isBelow = tosa.compare<mlir::tosa::GreaterOp>(tosa.scalarLike(x, 0), x);
  node.setResult(tosa.select(isBelow, tosa.multiplyScalar(area, -1), area));
}
static void buildAtan(NodeImporter &node) {
  node.setResult(arcTangent(node.tosa(), node.floatValue(0)));
}
static void buildAtanh(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value inverse =
      tosa.unary<mlir::tosa::ReciprocalOp>(tosa.addScalar(tosa.multiplyScalar(x, -1), 1));
  mlir::Value ratio = tosa.multiply(tosa.addScalar(x, 1), inverse);
  node.setResult(tosa.multiplyScalar(tosa.unary<mlir::tosa::LogOp>(ratio), 0.5f));
}
static void buildCos(NodeImporter &node) { buildUnary<mlir::tosa::CosOp>(node); }
static void buildCosh(NodeImporter &node) {
  node.setResult(hyperbolic(node.tosa(), node.floatValue(0), 1));
}
static void buildSin(NodeImporter &node) { buildUnary<mlir::tosa::SinOp>(node); }
static void buildSinh(NodeImporter &node) {
  node.setResult(hyperbolic(node.tosa(), node.floatValue(0), -1));
}
static void buildTan(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value inverse = tosa.unary<mlir::tosa::ReciprocalOp>(tosa.unary<mlir::tosa::CosOp>(x));
  node.setResult(tosa.multiply(tosa.unary<mlir::tosa::SinOp>(x), inverse));
}

llvm::ArrayRef<Operator> unaryOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Abs", buildAbs},
      {"Acos", buildAcos},
      {"Acosh", buildAcosh},
      {"Asin", buildAsin},
      {"Asinh", buildAsinh},
      {"Atan", buildAtan},
      {"Atanh", buildAtanh},
      {"Ceil", buildCeil},
      {"Cos", buildCos},
      {"Cosh", buildCosh},
      {"Erf", buildErf},
      {"Exp", buildExp},
      {"Floor", buildFloor},
      {"Log", buildLog},
      {"Neg", buildNeg},
      {"Reciprocal", buildReciprocal},
      {"Round", buildRound},
      {"Sign", buildSign},
      {"Sin", buildSin},
      {"Sinh", buildSinh},
      {"Sqrt", buildSqrt},
      {"Tan", buildTan},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
