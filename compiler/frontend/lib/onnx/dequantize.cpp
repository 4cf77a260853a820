// DequantizeLinear.
#include "operators.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

// A scale or zero point in the shape that broadcasts over the input: of one value, of one for each
// index of the axis, or of one for each block along it.
static mlir::Value parameter(NodeImporter &node, size_t input, const Shape &shape) {
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
static void buildDequantizeLinear(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value = node.value(0);
  if (!node.isFloats(0))
    value = tosa.castToFloat(value);
  const Shape shape = sizesOf(value);
  if (node.has(2))
    value = tosa.subtract(value, parameter(node, 2, shape));
  node.setResult(tosa.multiply(value, parameter(node, 1, shape)));
}

llvm::ArrayRef<Operator> dequantizeOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"DequantizeLinear", buildDequantizeLinear},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
