// Reads and makes constants of TOSA, and what only gives a tensor another shape or order.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"

#include <optional>
#include <vector>

namespace tilewright {

// The elements of a tosa.const or tosa.const_shape; null for any other value, and for constants
// held as resources.
mlir::DenseElementsAttr constantElements(mlir::Value value);
// Of those of integers or of a shape, sign-extended (i1: 0 or 1).
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);
// Of those of float32, with splats spread out; to look at floats where they stand:
// constant_floats.h.
std::optional<std::vector<float>> constantFloats(mlir::Value value);
// The one value that all elements of a float32 constant have.
std::optional<float> splatFloat(mlir::Value value);

// Elements of a tensor of this shape: along a dimension, element i is what element from[i] was.
template <typename T>
std::vector<T> inOrder(llvm::ArrayRef<T> elements, llvm::ArrayRef<int64_t> shape, size_t dim,
                       llvm::ArrayRef<int64_t> from) {
  size_t inner = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    inner *= static_cast<size_t>(size);
  std::vector<T> ordered;
  ordered.reserve(elements.size());
  for (size_t begin = 0; begin < elements.size(); begin += inner * from.size())
    for (int64_t origin : from)
      llvm::append_range(ordered,
                         elements.slice(begin + static_cast<size_t>(origin) * inner, inner));
  return ordered;
}

// Integers as elements of `type`, truncated to its width. One value fills any shape.
mlir::DenseElementsAttr integerElements(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> values);

mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::DenseElementsAttr elements);
// float32; one value fills any shape.
mlir::Value makeFloats(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
mlir::Value makeFloats(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::ArrayRef<int64_t> shape, const std::vector<double> &values);
// Signless integers of `bits`; one value fills any shape.
mlir::Value makeIntegers(mlir::OpBuilder &builder, mlir::Location location,
                         llvm::ArrayRef<int64_t> shape, int bits, llvm::ArrayRef<int64_t> values);
mlir::Value makeShape(mlir::OpBuilder &builder, mlir::Location location,
                      llvm::ArrayRef<int64_t> shape);

// `value` itself where it is that already.
mlir::Value makeReshape(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                        llvm::ArrayRef<int64_t> shape);
mlir::Value makeTranspose(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                          llvm::ArrayRef<int32_t> permutation);
mlir::Value makeSlice(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                      llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> size);
// `size` elements of one dimension, from `start` on.
mlir::Value makeSliceOfAxis(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                            int64_t axis, int64_t start, int64_t size);

} // namespace tilewright
