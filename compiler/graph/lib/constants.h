// Reading and making TOSA constants.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace tilewright {

using Dims = llvm::SmallVector<int64_t>;

Dims dimsOf(mlir::Value value);
bool isFloat32(mlir::Value value);

// The elements of a tosa.const or tosa.const_shape; null for any other value, and for constants
// held as resources.
mlir::DenseElementsAttr constantOf(mlir::Value value);
// Of a constant of integers or of a shape.
std::optional<Dims> constantInts(mlir::Value value);
// Of a float32 constant, with splats spread out.
std::optional<std::vector<float>> constantFloats(mlir::Value value);
// The one value that all elements of a float32 constant have.
std::optional<float> splatFloat(mlir::Value value);

// The location of an op that does the work of two; the first one's layer counts. Chains of merges
// keep the first few.
mlir::Location fusedLocation(mlir::Location first, mlir::Location second);

mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::DenseElementsAttr elements);
mlir::Value makeFloats(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values);
mlir::Value makeShape(mlir::OpBuilder &builder, mlir::Location location,
                      llvm::ArrayRef<int64_t> dims);
mlir::Value makeReshape(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                        llvm::ArrayRef<int64_t> dims);
mlir::Value makeTranspose(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                          llvm::ArrayRef<int32_t> permutation);

} // namespace tilewright
