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
      {"Cast", buildCast},
      {"CastLike", buildCastLike},
      {"Constant"},
      {"ConstantOfShape"},
      {"If"}, // its branches are imported in its place
      {"Range"},
      {"Shape", buildShape},
      {"Size", buildSize},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
