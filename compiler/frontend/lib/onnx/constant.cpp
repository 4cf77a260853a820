// Values that exist at import only: constants, shapes, and their conversions.
#include "operators.h"

#include "tilewright/onnx/schema.h"
#include "tilewright/onnx/size_limits.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

Tensor integerVector(const std::vector<int64_t> &values) {
  Tensor tensor = makeTensor(DType::I64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<int64_t>());
  return tensor;
}

Tensor scalar(DType type, double value) {
  Tensor tensor = makeTensor(type, {});
  isFloat(type) ? setFloat(tensor, 0, value) : setInteger(tensor, 0, static_cast<int64_t>(value));
  return tensor;
}

} // namespace

// Towards zero, as a cast to integers rounds.
static mlir::Value truncated(FloatBuilder &tosa, mlir::Value value) {
  mlir::Value isPositive =
      tosa.compare<mlir::tosa::GreaterEqualOp>(value, tosa.scalarLike(value, 0));
  return tosa.select(isPositive, tosa.unary<mlir::tosa::FloorOp>(value),
                     tosa.unary<mlir::tosa::CeilOp>(value));
}

static int64_t bitsOf(DType type) {
  if (type == DType::I4 || type == DType::U4)
    return 4;
  return type == DType::I2 || type == DType::U2 ? 2 : 8 * byteSize(type);
}

// Narrower integers keep the low bits.
static mlir::Value wrapped(FloatBuilder &tosa, mlir::Value value, DType target) {
  const int64_t bits = bitsOf(target);
  if (bits >= 32)
    return value;
  mlir::Value shift = tosa.integerLike(value, 32 - bits);
  value = tosa.binary<mlir::tosa::LogicalLeftShiftOp>(value, shift);
  return isSigned(target) ? tosa.arithmeticRightShift(value, shift)
                          : tosa.binary<mlir::tosa::LogicalRightShiftOp>(value, shift);
}

static void castTo(NodeImporter &node, DType target) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value = node.value(0);
  const DType source = node.type(0);
  if (node.operand(0).quantization) {
    value = integersOf(tosa, node.operand(0));
    if (isFloat(target))
      return node.setResult(value, DType::F32);
    value = tosa.castToInteger(value);
  }
  if (isFloat(target))
    return node.setResult(isFloat(source) ? value : tosa.castToFloat(value), DType::F32);
  if (target == DType::Bool)
    return node.setResult(tosa.isNotZero(value), target);
  if (isFloat(source))
    value = wrapped(tosa, tosa.castToInteger(truncated(tosa, value)), target);
  else if (source == DType::Bool)
    return node.setResult(tosa.castToInteger(value), target);
  else if (bitsOf(target) < bitsOf(source) || isSigned(target) != isSigned(source))
    value = wrapped(tosa, value, target);
  node.setResult(value, target);
}

static void buildCast(NodeImporter &node) {
  const int64_t to = node.integer("to", 0);
  const std::optional<DType> target = dtypeOf(to);
  if (!target)
    node.refuse(fmt::format("a cast to {} is not supported", elementTypeName(to)));
  castTo(node, *target);
}

static void buildCastLike(NodeImporter &node) { castTo(node, node.type(1)); }

static void foldCastLike(NodeImporter &node) {
  const Tensor &input = node.known(0, "input");
  node.checkFold(input.shape, node.type(1));
  node.setResult(castTensor(input, node.type(1)));
}

static void foldCast(NodeImporter &node) {
  int64_t to = node.integer("to", 0);
  std::optional<DType> target = dtypeOf(to);
  if (!target)
    node.refuse(fmt::format("a cast to {} is not supported", elementTypeName(to)));
  const Tensor &input = node.known(0, "input");
  node.checkFold(input.shape, *target);
  node.setResult(castTensor(input, *target));
}

static void foldConstant(NodeImporter &node) {
  if (node.node().attributes.size() != 1)
    node.fail(fmt::format("it has {} attributes, and should have its value alone",
                          node.node().attributes.size()));
  if (ConstantTensor tensor = node.tensor("value"))
    return node.setResult(Operand{tensor, {}});
  if (node.hasAttribute("value_float"))
    return node.setResult(scalar(DType::F32, node.number("value_float", 0)));
  if (node.hasAttribute("value_int")) {
    Tensor tensor = integerVector({node.integer("value_int", 0)});
    tensor.shape.clear();
    return node.setResult(std::move(tensor));
  }
  if (node.hasAttribute("value_ints"))
    return node.setResult(integerVector(node.integers("value_ints", {})));
  if (node.hasAttribute("value_floats")) {
    std::vector<float> values = node.numbers("value_floats", {});
    Tensor tensor = makeTensor(DType::F32, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.data<float>());
    return node.setResult(std::move(tensor));
  }
  node.refuse("it has no value of numbers");
}

static void foldConstantOfShape(NodeImporter &node) {
  Shape shape = node.integers(0, "shape");
  ConstantTensor value = node.tensor("value");
  Tensor fill = value ? *value : scalar(DType::F32, 0);
  if (fill.elements() != 1)
    node.fail("its value is not one number");
  node.checkFold(shape, fill.dtype);
  node.setResult(stridedCopy(fill, shape, 0, Shape(shape.size(), 0)));
}

static void foldRange(NodeImporter &node) {
  const Tensor &start = node.known(0, "start"), &limit = node.known(1, "limit");
  const Tensor &delta = node.known(2, "delta");
  node.checkScalar(0, "start");
  node.checkScalar(1, "limit");
  node.checkScalar(2, "delta");
  double first = floatAt(start, 0), step = floatAt(delta, 0);
  double count = std::ceil((floatAt(limit, 0) - first) / step);
  if (!(count < static_cast<double>(maxFoldBytes)) || step == 0)
    node.fail("the range is endless or too long");
  Shape shape = {static_cast<int64_t>(std::max(count, 0.0))};
  node.checkFold(shape, start.dtype);
  Tensor result = makeTensor(start.dtype, shape);
  for (int64_t i = 0; i < shape[0]; ++i) {
    double value = first + static_cast<double>(i) * step;
    isFloat(result.dtype) ? setFloat(result, i, value)
                          : setInteger(result, i, static_cast<int64_t>(value));
  }
  node.setResult(std::move(result));
}

static void buildShape(NodeImporter &node) {
  Shape shape = node.shape(0);
  auto rank = static_cast<int64_t>(shape.size());
  auto bound = [&](const char *name, int64_t fallback) {
    int64_t value = node.integer(name, fallback);
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  node.setResult(integerVector({shape.begin() + start, shape.begin() + std::max(start, end)}));
}

static void buildSize(NodeImporter &node) {
  Tensor tensor = integerVector({elementCount(node.shape(0))});
  tensor.shape.clear();
  node.setResult(std::move(tensor));
}

llvm::ArrayRef<Operator> constantOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Cast", buildCast, foldCast},
      {"CastLike", buildCastLike, foldCastLike},
      {"Constant", nullptr, foldConstant},
      {"ConstantOfShape", nullptr, foldConstantOfShape},
      {"Range", nullptr, foldRange},
      {"Shape", buildShape, buildShape},
      {"Size", buildSize, buildSize},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
