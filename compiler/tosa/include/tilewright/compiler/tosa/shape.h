// Shapes as lists that may be changed.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

using Shape = std::vector<int64_t>;

Shape sizesOf(mlir::Value value); // of a ranked tensor

int64_t elementCount(llvm::ArrayRef<int64_t> shape);
std::string formatShape(llvm::ArrayRef<int64_t> shape); // "1x3x48x192"; "scalar"
// NumPy's rule; nullopt when the shapes do not fit each other.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

} // namespace tilewright
