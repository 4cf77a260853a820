// Builders of TOSA constants, and reshapes.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"

#include <vector>

namespace tilewright::quantization {

mlir::Value floatConstant(mlir::OpBuilder &builder, mlir::Location location,
                          llvm::ArrayRef<int64_t> shape, const std::vector<double> &values);
// A signless integer tensor; one value fills any shape.
mlir::Value integerConstant(mlir::OpBuilder &builder, mlir::Location location,
                            llvm::ArrayRef<int64_t> shape, int bits,
                            const std::vector<int64_t> &values);
// The same of weights.
mlir::Value integerConstant(mlir::OpBuilder &builder, mlir::Location location,
                            llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int8_t> values);
mlir::Value shapeConstant(mlir::OpBuilder &builder, mlir::Location location,
                          llvm::ArrayRef<int64_t> shape);
// `value` itself when it has that shape already.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                    llvm::ArrayRef<int64_t> shape);

} // namespace tilewright::quantization
