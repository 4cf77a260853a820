#include "tilewright/compiler/tosa/shape.h"

#include "tilewright/compiler/tosa/tensor_types.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

Shape sizesOf(mlir::Value value) { return shapeOf(value).vec(); }

int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) { // from the last dimension to the first
    int64_t dimA = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t dimB = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (dimA != dimB && dimA != 1 && dimB != 1)
      return std::nullopt;
    shape[shape.size() - 1 - i] = dimA == 1 ? dimB : dimA;
  }
  return shape;
}

} // namespace tilewright
