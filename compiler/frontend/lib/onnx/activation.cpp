// Activation functions, as element-wise TOSA ops: the quantizer makes tables of such sequences.
#include "operators.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tilewright::onnx_import {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

mlir::Value positivePart(FloatBuilder &tosa, mlir::Value x) { return tosa.clamp(x, 0, infinity); }
mlir::Value negativePart(FloatBuilder &tosa, mlir::Value x) { return tosa.clamp(x, -infinity, 0); }

// max(x, 0) + alpha * (exp(exponent) - 1)
mlir::Value exponentialUnit(FloatBuilder &tosa, mlir::Value x, mlir::Value exponent, float alpha) {
  mlir::Value power = tosa.unary<mlir::tosa::ExpOp>(exponent);
  mlir::Value below = tosa.multiplyScalar(tosa.addScalar(power, -1), alpha);
  return tosa.add(positivePart(tosa, x), below);
}

// log(1 + exp(x)), which never overflows in this form
mlir::Value softplus(FloatBuilder &tosa, mlir::Value x) {
  mlir::Value magnitude = tosa.unary<mlir::tosa::AbsOp>(x);
  mlir::Value power = tosa.unary<mlir::tosa::ExpOp>(tosa.multiplyScalar(magnitude, -1));
  mlir::Value tail = tosa.unary<mlir::tosa::LogOp>(tosa.addScalar(power, 1));
  return tosa.add(positivePart(tosa, x), tail);
}

mlir::Value hardSigmoid(FloatBuilder &tosa, mlir::Value x, float alpha, float beta) {
  return tosa.clamp(tosa.addScalar(tosa.multiplyScalar(x, alpha), beta), 0, 1);
}

mlir::Value isAbove(FloatBuilder &tosa, mlir::Value x, float bound) {
  return tosa.compare<mlir::tosa::GreaterOp>(x, tosa.scalarLike(x, bound));
}

// A bound may be infinite: buildClip takes it where it bounds nothing.
std::optional<float> knownBound(NodeImporter &node, size_t input) {
  node.checkScalar(input, "bound");
  const Tensor *bound = node.constant(input);
  return bound ? std::optional(static_cast<float>(floatAt(*bound, 0))) : std::nullopt;
}

} // namespace

static void buildCelu(NodeImporter &node) {
  float alpha = node.number("alpha", 1);
  if (!std::isfinite(1 / alpha))
    node.fail(fmt::format("attribute 'alpha' is {}, and inputs are divided by it", alpha));
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value exponent = tosa.multiplyScalar(negativePart(tosa, x), 1 / alpha);
  node.setResult(exponentialUnit(tosa, x, exponent, alpha));
}

// The upper bound is applied last, so it wins when the bounds are in the wrong order.
static void clipIntegers(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.value(0);
  if (node.has(1))
    x = tosa.binary<mlir::tosa::MaximumOp>(x, node.value(1));
  if (node.has(2))
    x = tosa.binary<mlir::tosa::MinimumOp>(x, node.value(2));
  node.setResult(x);
}

static void buildClip(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  if (!node.isFloats(0))
    return clipIntegers(node);
  mlir::Value x = node.floatValue(0);
  float low = -infinity, high = infinity;
  if (node.opset() < 11) {
    low = node.number("min", low);
    high = node.number("max", high);
  } else {
    for (size_t input : {1, 2}) {
      if (!node.has(input))
        continue;
      if (std::optional<float> bound = knownBound(node, input))
        (input == 1 ? low : high) = *bound;
      else if (input == 1)
        x = tosa.binary<mlir::tosa::MaximumOp>(x, node.floatValue(input));
      else
        x = tosa.binary<mlir::tosa::MinimumOp>(x, node.floatValue(input));
    }
  }
  if (std::isnan(low) || std::isnan(high))
    node.fail("a bound is not a number");
  if (low == infinity || high == -infinity)
    node.refuse("its bounds leave infinity alone; only finite numbers are computed with");
  // The upper bound is applied last, so it wins when the bounds are in the wrong order.
  node.setResult(tosa.clamp(x, std::min(low, high), high));
}

static void buildElu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  node.setResult(exponentialUnit(tosa, x, negativePart(tosa, x), node.number("alpha", 1)));
}

static void buildGelu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0), inner;
  if (node.choice("approximate", {"none", "tanh"}) == "tanh") {
    mlir::Value cube = tosa.multiply(tosa.multiply(x, x), x);
    mlir::Value sum = tosa.add(x, tosa.multiplyScalar(cube, 0.044715f));
    inner = tosa.unary<mlir::tosa::TanhOp>(tosa.multiplyScalar(sum, 0.797884560802865f));
  } else {
    inner = tosa.unary<mlir::tosa::ErfOp>(tosa.multiplyScalar(x, 0.707106781186547f));
  }
  node.setResult(tosa.multiply(tosa.multiplyScalar(x, 0.5f), tosa.addScalar(inner, 1)));
}

static void buildHardSigmoid(NodeImporter &node) {
  node.setResult(hardSigmoid(node.tosa(), node.floatValue(0), node.number("alpha", 0.2f),
                             node.number("beta", 0.5f)));
}

static void buildHardSwish(NodeImporter &node) {
  mlir::Value x = node.floatValue(0);
  node.setResult(node.tosa().multiply(x, hardSigmoid(node.tosa(), x, 1.0f / 6.0f, 0.5f)));
}

static void buildLeakyRelu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  float alpha = node.number("alpha", 0.01f);
  if (alpha == 0)
    return node.setResult(positivePart(tosa, x));
  mlir::Value scaled = tosa.multiplyScalar(x, alpha);
  node.setResult(alpha <= 1 ? tosa.binary<mlir::tosa::MaximumOp>(x, scaled)
                            : tosa.binary<mlir::tosa::MinimumOp>(x, scaled));
}

static void buildMish(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  node.setResult(tosa.multiply(x, tosa.unary<mlir::tosa::TanhOp>(softplus(tosa, x))));
}

static void buildPRelu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value below = tosa.multiply(negativePart(tosa, x), node.floatValue(1));
  if (sizesOf(below) != sizesOf(x))
    node.fail("the slope does not fit the input");
  node.setResult(tosa.add(positivePart(tosa, x), below));
}

static void buildRelu(NodeImporter &node) {
  if (!node.isFloats(0))
    return node.setResult(node.tosa().binary<mlir::tosa::MaximumOp>(
        node.value(0), node.tosa().integerLike(node.value(0), 0)));
  node.setResult(positivePart(node.tosa(), node.floatValue(0)));
}

static void buildSelu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value unit = exponentialUnit(tosa, x, negativePart(tosa, x),
                                     node.number("alpha", 1.67326319217681884765625f));
  node.setResult(tosa.multiplyScalar(unit, node.number("gamma", 1.05070102214813232421875f)));
}

// x + bias below -lambd, x - bias above lambd, 0 between them
static void buildShrink(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0), zero = tosa.scalarLike(x, 0);
  float bias = node.number("bias", 0), lambd = node.number("lambd", 0.5f);
  mlir::Value isBelow = tosa.compare<mlir::tosa::GreaterOp>(tosa.scalarLike(x, -lambd), x);
  mlir::Value above = tosa.select(isAbove(tosa, x, lambd), tosa.addScalar(x, -bias), zero);
  node.setResult(tosa.select(isBelow, tosa.addScalar(x, bias), above));
}

static void buildSigmoid(NodeImporter &node) {
  node.setResult(node.tosa().unary<mlir::tosa::SigmoidOp>(node.floatValue(0)));
}

static void buildSoftplus(NodeImporter &node) {
  node.setResult(softplus(node.tosa(), node.floatValue(0)));
}

static void buildSoftsign(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value divisor = tosa.addScalar(tosa.unary<mlir::tosa::AbsOp>(x), 1);
  node.setResult(tosa.multiply(x, tosa.unary<mlir::tosa::ReciprocalOp>(divisor)));
}

static void buildSwish(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value scaled = tosa.multiplyScalar(x, node.number("alpha", 1));
  node.setResult(tosa.multiply(x, tosa.unary<mlir::tosa::SigmoidOp>(scaled)));
}

static void buildTanh(NodeImporter &node) {
  node.setResult(node.tosa().unary<mlir::tosa::TanhOp>(node.floatValue(0)));
}

static void buildThresholdedRelu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value x = node.floatValue(0);
  mlir::Value passes = isAbove(tosa, x, node.number("alpha", 1));
  node.setResult(tosa.select(passes, x, tosa.scalarLike(x, 0)));
}

llvm::ArrayRef<Operator> activationOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Celu", buildCelu},
      {"Clip", buildClip},
      {"Elu", buildElu},
      {"Gelu", buildGelu},
      {"HardSigmoid", buildHardSigmoid},
      {"HardSwish", buildHardSwish},
      {"LeakyRelu", buildLeakyRelu},
      {"Mish", buildMish},
      {"PRelu", buildPRelu},
      {"Relu", buildRelu},
      {"Selu", buildSelu},
      {"Shrink", buildShrink},
      {"Sigmoid", buildSigmoid},
      {"Softplus", buildSoftplus},
      {"Softsign", buildSoftsign},
      {"Swish", buildSwish},
      {"Tanh", buildTanh},
      {"ThresholdedRelu", buildThresholdedRelu},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
