#include "constants.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace tilewright::float_kernels {

std::optional<DType> dtypeOf(Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.isInteger() ? type.getIntOrFloatBitWidth() : 0) {
  case 1:
    return DType::Bool;
  case 8:
    return isUnsigned ? DType::U8 : DType::I8;
  case 16:
    return isUnsigned ? DType::U16 : DType::I16;
  case 32:
    return isUnsigned ? DType::U32 : DType::I32;
  case 64:
    return isUnsigned ? DType::U64 : DType::I64;
  default:
    return std::nullopt;
  }
}

Tensor constantTensor(Operation *constant) {
  ElementsAttr values = cast<tosa::ConstOp>(constant).getValues();
  ShapedType type = values.getShapedType();
  Tensor tensor = makeTensor(dtypeOf(type.getElementType()).value(), type.getShape());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(values)) {
    ArrayRef<char> data = resource.getData();
    std::memcpy(tensor.bytes.data(), data.data(), std::min(data.size(), tensor.bytes.size()));
    return tensor;
  }
  auto dense = cast<DenseElementsAttr>(values);
  if (tensor.dtype == DType::Bool) {
    std::copy(dense.value_begin<bool>(), dense.value_end<bool>(), tensor.data<bool>());
    return tensor;
  }
  ArrayRef<char> data = dense.getRawData();
  for (size_t at = 0; at < tensor.bytes.size(); at += data.size())
    std::memcpy(tensor.bytes.data() + at, data.data(), data.size());
  return tensor;
}

const char *storedData(Operation *constant) {
  ElementsAttr values = cast<tosa::ConstOp>(constant).getValues();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(values);
      resource && resource.getElementType().isF32())
    return resource.getData().data();
  auto dense = dyn_cast<DenseElementsAttr>(values);
  bool isPlain = dense && !dense.isSplat() && !dense.getElementType().isInteger(1);
  return isPlain ? dense.getRawData().data() : nullptr;
}

} // namespace tilewright::float_kernels
