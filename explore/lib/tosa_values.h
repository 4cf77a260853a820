// What a value of a TOSA module is, for those that count.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace tilewright::explore {

// Null where it has no rank.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}

// 0 where extents are not known.
inline int64_t elementsOf(mlir::Value value) {
  const mlir::RankedTensorType type = typeOf(value);
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

inline int64_t bytesOf(mlir::Value value) {
  const mlir::RankedTensorType type = typeOf(value);
  if (!type || !type.getElementType().isIntOrFloat())
    return 0;
  return elementsOf(value) * ((type.getElementTypeBitWidth() + 7) / 8);
}

inline bool isConstant(mlir::Value value) {
  mlir::Operation *made = value.getDefiningOp();
  return made != nullptr && made->hasTrait<mlir::OpTrait::ConstantLike>();
}

} // namespace tilewright::explore
