// Element-wise arithmetic with broadcasting.
#include "operators.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

using mlir::tosa::MaximumOp;
using mlir::tosa::MinimumOp;

// Of floats or integers.
mlir::Value numbers(NodeImporter &node, size_t input) {
  return node.type(input) == DType::Bool ? node.floatValue(input) : node.value(input);
}

template <typename Combine> mlir::Value combineAll(NodeImporter &node, Combine combine) {
  mlir::Value result = numbers(node, 0);
  for (size_t i = 1; i < node.inputCount(); ++i)
    result = combine(result, numbers(node, i));
  return result;
}

// The inverse of a constant divisor is a constant factor.
mlir::Value inverse(NodeImporter &node, size_t input) {
  const Tensor *constant = node.constant(input);
  if (!constant || constant->dtype != DType::F32)
    return node.tosa().unary<mlir::tosa::ReciprocalOp>(node.floatValue(input));
  Tensor result = *constant;
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    float &each = result.data<float>()[i];
    if (!std::isfinite(1.0f / each))
      node.refuse(fmt::format("it divides by {}", each));
    each = 1.0f / each;
  }
  return node.tosa().constant(result);
}

} // namespace

static void buildAdd(NodeImporter &node) {
  if (node.isFloats(0))
    return node.setResult(node.tosa().add(node.maskedValue(0), node.maskedValue(1)));
  node.setResult(node.tosa().add(numbers(node, 0), numbers(node, 1)));
}

static void buildSub(NodeImporter &node) {
  node.setResult(node.tosa().subtract(numbers(node, 0), numbers(node, 1)));
}

static void buildMul(NodeImporter &node) {
  node.setResult(node.tosa().multiply(numbers(node, 0), numbers(node, 1)));
}

static void buildDiv(NodeImporter &node) {
  node.setResult(node.tosa().multiply(node.floatValue(0), inverse(node, 1)));
}

// x - floor(x / y) * y, or towards zero as C has it.
static void buildMod(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  const bool likeC = node.flag("fmod", false);
  mlir::Value x = node.floatValue(0), y = node.floatValue(1);
  mlir::Value quotient = tosa.multiply(x, inverse(node, 1));
  mlir::Value whole = tosa.unary<mlir::tosa::FloorOp>(quotient);
  if (likeC) {
    mlir::Value isPositive =
        tosa.compare<mlir::tosa::GreaterEqualOp>(quotient, tosa.scalarLike(quotient, 0));
    whole = tosa.select(isPositive, whole, tosa.unary<mlir::tosa::CeilOp>(quotient));
  }
  node.setResult(tosa.subtract(x, tosa.multiply(whole, y)));
}

static void buildPow(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value base = node.floatValue(0);
  const Tensor *exponent = node.constant(1);
  if (exponent && exponent->elements() == 1) {
    float value = static_cast<float>(floatAt(*exponent, 0));
    if (value == 1)
      return node.setResult(base);
    if (value == 2)
      return node.setResult(tosa.multiply(base, base));
    return node.setResult(tosa.binary<mlir::tosa::PowOp>(base, tosa.scalarLike(base, value)));
  }
  node.setResult(tosa.binary<mlir::tosa::PowOp>(base, node.floatValue(1)));
}

static void buildMax(NodeImporter &node) {
  node.setResult(combineAll(
      node, [&](mlir::Value a, mlir::Value b) { return node.tosa().binary<MaximumOp>(a, b); }));
}

static void buildMin(NodeImporter &node) {
  node.setResult(combineAll(
      node, [&](mlir::Value a, mlir::Value b) { return node.tosa().binary<MinimumOp>(a, b); }));
}

static mlir::Value sumOfInputs(NodeImporter &node) {
  return combineAll(node, [&](mlir::Value a, mlir::Value b) { return node.tosa().add(a, b); });
}

static void buildSum(NodeImporter &node) { node.setResult(sumOfInputs(node)); }

static void buildMean(NodeImporter &node) {
  float factor = 1.0f / static_cast<float>(node.inputCount());
  node.setResult(node.tosa().multiplyScalar(sumOfInputs(node), factor));
}

llvm::ArrayRef<Operator> arithmeticOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Add", buildAdd},
      {"Div", buildDiv},
      {"Max", buildMax},
      {"Mean", buildMean},
      {"Min", buildMin},
      {"Mod", buildMod},
      {"Mul", buildMul},
      {"Pow", buildPow},
      {"Sub", buildSub},
      {"Sum", buildSum},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
