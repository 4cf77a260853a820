#include "scale.h"

#include "constants.h"

namespace tilewright {

std::optional<Scale> scalarScale(kernel::RescaleOp op) {
  auto multiplier = constantIntegers(op.getMultiplier()), shift = constantIntegers(op.getShift());
  if (!multiplier || !shift || multiplier->size() != 1)
    return std::nullopt;
  return Scale{multiplier->front(), shift->front()};
}

bool keepsRange(kernel::RescaleOp op) {
  unsigned bits = llvm::cast<mlir::ShapedType>(op.getType()).getElementTypeBitWidth();
  return op.getLo() == -(int64_t(1) << (bits - 1)) && op.getHi() == (int64_t(1) << (bits - 1)) - 1;
}

} // namespace tilewright
