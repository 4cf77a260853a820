// Makes what moves a tensor's elements, of any type. Reshapes, transposes and slices: constants.h.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace tilewright {

// `padding`: before and behind each dimension; `value` itself where nothing is added.
mlir::Value makePad(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                    llvm::ArrayRef<int64_t> padding, mlir::Value fill);
mlir::Value makeConcat(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::ArrayRef<mlir::Value> parts, int64_t axis);
// Result position i along `axis` is position indices[i] of `value`, which it is itself where that
// is each in its place.
mlir::Value makeGatherOfAxis(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                             int64_t axis, llvm::ArrayRef<int64_t> indices);

} // namespace tilewright
