// QuantizeLinear and DequantizeLinear, and operators on integers that are products of others.
//
// The graph computes with the reals that integers stand for: what is quantized is clamped to what
// its integers can stand for, and the clamp says how they are stored (given_parameters.h). Integers
// of the model themselves are made only where an operator reads them as such.
#include "operators.h"

#include "tilewright/compiler/tosa/given_parameters.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

// How the graph stores what the model does in `type`; nothing of types that have no form of 8 or 16
// bits. Those of 16 bits have no zero point here, and cover the same range; convolutions take them
// in two parts of 8 (split.h), for which one of the bits is left free.
std::optional<quantization::Parameters> storageOf(const Quantization &given) {
  const auto zero = static_cast<double>(given.zeroPoint);
  switch (given.type) {
  case DType::I4:
  case DType::I8:
    return quantization::Parameters{given.scale, given.zeroPoint, 8};
  case DType::U4:
  case DType::U8:
    return quantization::Parameters{given.scale, given.zeroPoint - 128, 8};
  case DType::I16:
  case DType::U16: {
    constexpr double half = 1 << 15, coarser = 2 * 128.0 / 127;
    const double middle = given.type == DType::U16 ? half : 0;
    return quantization::Parameters{given.scale * coarser * (1 + std::fabs(zero - middle) / half),
                                    0, 16};
  }
  default:
    return std::nullopt;
  }
}

// The least and the greatest integer of the type.
std::pair<double, double> rangeOf(DType type) {
  const int bits =
      type == DType::I4 || type == DType::U4 ? 4 : 8 * static_cast<int>(byteSize(type));
  const double count = std::ldexp(1, bits);
  return isSigned(type) ? std::pair(-count / 2, count / 2 - 1) : std::pair(0.0, count - 1);
}

// `value` as what its integers can stand for.
mlir::Value stored(NodeImporter &node, mlir::Value value, const Quantization &given) {
  const std::optional<quantization::Parameters> storage = storageOf(given);
  if (!storage)
    node.refuse("tensors are quantized to integers of 4, 8 and 16 bits alone");
  const auto [least, most] = rangeOf(given.type);
  const auto zero = static_cast<double>(given.zeroPoint);
  mlir::Value clamped = node.tosa().clamp(value, static_cast<float>((least - zero) * given.scale),
                                          static_cast<float>((most - zero) * given.scale));
  setGivenParameters(clamped.getDefiningOp(), *storage);
  return clamped;
}

// The scale and zero point of inputs 1 and 2, of integers of `type`; nothing where there are
// several.
std::optional<Quantization> quantizationOf(NodeImporter &node, DType type) {
  const Tensor &scale = node.known(1, "scale");
  if (scale.elements() != 1)
    return std::nullopt;
  Quantization given{floatAt(scale, 0), 0, type};
  if (!(given.scale > 0) || !std::isfinite(given.scale))
    node.fail(fmt::format("a scale of {} is not possible", given.scale));
  if (node.has(2)) {
    const Tensor &zero = node.known(2, "zero point");
    if (zero.elements() != 1)
      node.fail("its scale and its zero point should have one shape");
    given.zeroPoint = integerAt(zero, 0);
  }
  return given;
}

void buildQuantizeLinear(NodeImporter &node) {
  DType type = node.has(2) ? node.type(2) : DType::U8;
  if (const int64_t asked = node.integer("output_dtype", 0); asked != 0 && !node.has(2))
    type = dtypeOf(asked).value_or(DType::F32);
  const std::optional<Quantization> given = quantizationOf(node, type);
  if (!given)
    node.refuse("a tensor that is not known at import is quantized with several scales");
  node.setResult(Operand{nullptr, stored(node, node.floatValue(0), *given), type, given});
}

// A scale or zero point in the shape that broadcasts over the input: of one value, of one for each
// index of the axis, or of one for each block along it.
mlir::Value parameter(NodeImporter &node, size_t input, const Shape &shape) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value =
      tosa.constant(castTensor(node.known(input, "scale or zero point"), DType::F32));
  Shape own = sizesOf(value);
  if (elementCount(own) == 1)
    return tosa.reshape(value, Shape(shape.size(), 1));
  const int64_t axis = node.axis(node.integer("axis", 1), static_cast<int64_t>(shape.size()));
  if (own.size() == 1 && own[0] == shape[axis]) {
    Shape along(shape.size(), 1);
    along[axis] = own[0];
    return tosa.reshape(value, along);
  }
  const int64_t block = node.integer("block_size", 0);
  if (own.size() != shape.size() || block < 1 || own[axis] * block < shape[axis])
    node.fail(fmt::format("a scale or zero point of shape {} does not fit an input of {}",
                          formatShape(own), formatShape(shape)));
  std::vector<int32_t> blocks(shape[axis]);
  for (int64_t i = 0; i < shape[axis]; ++i)
    blocks[i] = static_cast<int32_t>(i / block);
  return tosa.gatherAxis(value, axis, blocks);
}

// (x - zero point) * scale
void buildDequantizeLinear(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  const std::optional<Quantization> source = node.operand(0).quantization;
  const std::optional<Quantization> given = quantizationOf(node, node.type(0));
  if (source && source == given)
    return node.setResult(Operand{nullptr, node.operand(0).value});
  mlir::Value value = source ? integersOf(tosa, node.operand(0)) : node.value(0);
  if (!node.isFloats(0) && !source)
    value = tosa.castToFloat(value);
  const Shape shape = sizesOf(value);
  if (node.has(2))
    value = tosa.subtract(value, parameter(node, 2, shape));
  value = tosa.multiply(value, parameter(node, 1, shape));
  const bool isStored = given && storageOf(*given) && (!source || storageOf(*source));
  node.setResult(isStored ? stored(node, value, *given) : value);
}

// Numbers whose range depends on the data stay reals, which are scaled by 1 in place of what only a
// run would tell: the quantizer chooses their integers, from samples.
void buildDynamicQuantizeLinear(NodeImporter &node) {
  node.setResult(Operand{nullptr, node.floatValue(0), DType::U8, Quantization{1, 0, DType::U8}});
  Tensor one = makeTensor(DType::F32, {}), zero = makeTensor(DType::U8, {});
  setFloat(one, 0, 1);
  node.setResult(std::move(one), 1);
  node.setResult(std::move(zero), 2);
}

} // namespace

mlir::Value integersOf(FloatBuilder &tosa, const Operand &operand) {
  const Quantization &given = *operand.quantization;
  mlir::Value value = operand.value;
  if (given.scale != 1)
    value = tosa.multiplyScalar(value, static_cast<float>(1 / given.scale));
  return given.zeroPoint == 0 ? value : tosa.addScalar(value, static_cast<float>(given.zeroPoint));
}

llvm::ArrayRef<Operator> quantizationOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"DequantizeLinear", buildDequantizeLinear, true},
      {"DynamicQuantizeLinear", buildDynamicQuantizeLinear},
      {"QuantizeLinear", buildQuantizeLinear, true},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
