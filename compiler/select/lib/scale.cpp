#include "scale.h"

#include "tilewright/compiler/tosa/fixed_point.h"
#include "tilewright/compiler/tosa/tensor_types.h"

namespace tilewright {

// One more than the greatest signed value of the result's type.
static int64_t signedEnd(kernel::RescaleOp op) {
  return int64_t(1) << (llvm::cast<mlir::ShapedType>(op.getType()).getElementTypeBitWidth() - 1);
}

bool keepsRange(kernel::RescaleOp op) {
  return op.getLo() == -signedEnd(op) && op.getHi() == signedEnd(op) - 1;
}

kernel::RescaleOp wideningOf(mlir::Value value) {
  auto rescale = value.getDefiningOp<kernel::RescaleOp>();
  if (!rescale || widthOf(rescale.getX()) != 8 || widthOf(rescale.getResult()) != 32 ||
      rescale.getInputUnsigned() || rescale.getOutputZp() != 0 || !keepsRange(rescale))
    return nullptr;
  std::optional<FixedPoint> scale = constantFixedPoint(rescale.getMultiplier(), rescale.getShift());
  return scale && scale->isIdentity() ? rescale : nullptr;
}

bool givesSigned(kernel::RescaleOp op) {
  return op.getLo() >= -signedEnd(op) && op.getHi() < signedEnd(op);
}

} // namespace tilewright
