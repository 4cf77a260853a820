// What the type of a ranked tensor says.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <cstdint>

namespace tilewright {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorType(value).getShape(); }
inline mlir::Type elementOf(mlir::Value value) { return tensorType(value).getElementType(); }
inline int64_t elementsOf(mlir::Value value) { return tensorType(value).getNumElements(); }

// Bits of an element, and those that it takes in DRAM, where an i1 is a byte.
inline int widthOf(mlir::Value value) {
  return static_cast<int>(tensorType(value).getElementTypeBitWidth());
}
inline int bitsOf(mlir::Value value) { return (widthOf(value) + 7) / 8 * 8; }
inline int bytesOf(mlir::Value value) { return bitsOf(value) / 8; }

} // namespace tilewright
