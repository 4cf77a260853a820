#include "check.h"
#include "tilewright/support/error.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tilewright {

// TOSA's level 8K.
constexpr int64_t largestTensor = (int64_t(1) << 31) - 1; // bytes
constexpr int64_t largestRank = 6;

static int64_t elementBytes(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

LogicalResult checkTensor(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return op->emitOpError() << "has " << type << ", but every tensor must have a static shape";
  Type element = tensor.getElementType();
  if (isa<FloatType>(element))
    return op->emitOpError() << "has elements of " << element
                             << ", but only integers have kernels: quantize the model first";
  if (!element.isSignlessInteger(1) && !element.isSignlessInteger(8) &&
      !element.isSignlessInteger(16) && !element.isSignlessInteger(32))
    return op->emitOpError() << "has elements of " << element
                             << ", but only i1, i8, i16 and i32 are supported";
  if (tensor.getRank() > largestRank)
    return op->emitOpError() << "has " << type << ", but a tensor may have at most " << largestRank
                             << " dimensions";
  int64_t bytes = elementBytes(element);
  for (int64_t size : tensor.getShape()) {
    if (size == 0)
      return op->emitOpError() << "has " << type << ", but no size may be zero";
    if (size > largestTensor / bytes)
      return op->emitOpError() << "has " << type
                               << ", but a tensor may have at most 2147483647 bytes";
    bytes *= size;
  }
  return success();
}

LogicalResult checkConstant(tosa::ConstOp op) {
  if (isa<DenseElementsAttr>(op.getValues()))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValues());
  if (!resource)
    return op.emitOpError("must hold dense elements");
  std::string name = escape(resource.getRawHandle().getKey());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return op.emitOpError() << "has no data: resource '" << name << "' is not defined";
  auto type = cast<RankedTensorType>(op.getType());
  int64_t expected = type.getNumElements() * elementBytes(type.getElementType());
  if (static_cast<int64_t>(blob->getData().size()) != expected)
    return op.emitOpError() << "needs " << expected << " bytes, but resource '" << name << "' has "
                            << blob->getData().size();
  return success();
}

} // namespace tilewright
