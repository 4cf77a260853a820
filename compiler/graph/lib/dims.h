// Shapes that the rewrites change.
#pragma once

#include "tilewright/compiler/tosa/tensor_types.h"

namespace tilewright {

using Dims = llvm::SmallVector<int64_t>;

inline Dims dimsOf(mlir::Value value) { return Dims(shapeOf(value)); }
inline bool isFloat32(mlir::Value value) { return elementOf(value).isF32(); }

} // namespace tilewright
