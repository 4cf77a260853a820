// Element-wise arithmetic with broadcasting, on tensors and on the constants that shapes are
// computed with.
#include "operators.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

using mlir::tosa::MaximumOp;
using mlir::tosa::MinimumOp;

// Shape arithmetic is attacker-controlled: wrap instead of overflowing.
int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

template <typename Integers, typename Floats>
void foldBinary(NodeImporter &node, Integers integers, Floats floats) {
  const Tensor &a = node.known(0, "input"), &b = node.known(1, "input");
  std::optional<Shape> shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    node.fail(fmt::format("shapes {} and {} do not fit each other", formatShape(a.shape),
                          formatShape(b.shape)));
  node.checkFold(*shape, a.dtype);
  node.setResult(mapElements(a, b, *shape, a.dtype, integers, floats));
}

template <typename Combine> void foldVariadic(NodeImporter &node, Combine combine) {
  Tensor result = node.known(0, "input");
  for (size_t i = 1; i < node.inputCount(); ++i) {
    const Tensor &next = node.known(i, "input");
    std::optional<Shape> shape = broadcastShapes(result.shape, next.shape);
    if (!shape)
      node.fail(fmt::format("input {} does not fit the ones before it", i));
    node.checkFold(*shape, result.dtype);
    result = mapElements(result, next, *shape, result.dtype, combine, combine);
  }
  node.setResult(std::move(result));
}

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

int64_t divide(NodeImporter &node, int64_t a, int64_t b) {
  if (b == 0)
    node.fail("division by zero");
  return b == -1 ? wrap(-bits(a)) : a / b;
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

static void foldAdd(NodeImporter &node) {
  foldBinary(
      node, [](int64_t a, int64_t b) { return wrap(bits(a) + bits(b)); },
      [](double a, double b) { return a + b; });
}

static void buildSub(NodeImporter &node) {
  node.setResult(node.tosa().subtract(numbers(node, 0), numbers(node, 1)));
}

static void foldSub(NodeImporter &node) {
  foldBinary(
      node, [](int64_t a, int64_t b) { return wrap(bits(a) - bits(b)); },
      [](double a, double b) { return a - b; });
}

static void buildMul(NodeImporter &node) {
  node.setResult(node.tosa().multiply(numbers(node, 0), numbers(node, 1)));
}

static void foldMul(NodeImporter &node) {
  foldBinary(
      node, [](int64_t a, int64_t b) { return wrap(bits(a) * bits(b)); },
      [](double a, double b) { return a * b; });
}

static void buildDiv(NodeImporter &node) {
  node.setResult(node.tosa().multiply(node.floatValue(0), inverse(node, 1)));
}

static void foldDiv(NodeImporter &node) {
  foldBinary(
      node, [&](int64_t a, int64_t b) { return divide(node, a, b); },
      [](double a, double b) { return a / b; });
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

static void foldMod(NodeImporter &node) {
  bool likeC = node.flag("fmod", false);
  if (!likeC && isFloat(node.known(0, "input").dtype))
    node.fail("attribute 'fmod' should be 1 for floating-point inputs");
  foldBinary(
      node,
      [&](int64_t a, int64_t b) {
        int64_t rest = b == -1 ? 0 : a - divide(node, a, b) * b;
        return !likeC && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      },
      [](double a, double b) { return std::fmod(a, b); });
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

static void foldPow(NodeImporter &node) {
  const Tensor &a = node.known(0, "base");
  Tensor exponent = castTensor(node.known(1, "exponent"), DType::F64);
  std::optional<Shape> shape = broadcastShapes(a.shape, exponent.shape);
  if (!shape)
    node.fail("the shapes of base and exponent do not fit each other");
  node.checkFold(*shape, DType::F64);
  Tensor power = mapElements(castTensor(a, DType::F64), exponent, *shape, DType::F64, nullptr,
                             [](double x, double y) { return std::pow(x, y); });
  node.setResult(castTensor(power, a.dtype));
}

static void buildMax(NodeImporter &node) {
  node.setResult(combineAll(
      node, [&](mlir::Value a, mlir::Value b) { return node.tosa().binary<MaximumOp>(a, b); }));
}

static void foldMax(NodeImporter &node) {
  foldVariadic(node, [](auto a, auto b) { return a < b ? b : a; });
}

static void buildMin(NodeImporter &node) {
  node.setResult(combineAll(
      node, [&](mlir::Value a, mlir::Value b) { return node.tosa().binary<MinimumOp>(a, b); }));
}

static void foldMin(NodeImporter &node) {
  foldVariadic(node, [](auto a, auto b) { return b < a ? b : a; });
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
      {"Add", buildAdd, foldAdd},
      {"Div", buildDiv, foldDiv},
      {"Max", buildMax, foldMax},
      {"Mean", buildMean},
      {"Min", buildMin, foldMin},
      {"Mod", buildMod, foldMod},
      {"Mul", buildMul, foldMul},
      {"Pow", buildPow, foldPow},
      {"Sub", buildSub, foldSub},
      {"Sum", buildSum},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
