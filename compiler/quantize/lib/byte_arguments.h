// Arguments of 8 bits that a model casts to floats, as pictures are.
#pragma once

#include "tilewright/compiler/tosa/quantization_parameters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tilewright::quantization {

// i64, while a module is quantized: what an argument of bytes is given less.
constexpr llvm::StringLiteral zeroAttribute = "tilewright.zero";

// Of an argument that the model has as uint8 or int8: the 8 bits that keep its values.
std::optional<Parameters> bytesOf(mlir::func::FuncOp main, mlir::BlockArgument argument);

// 0 where an argument is given as it is.
int64_t zeroOf(mlir::func::FuncOp main, mlir::BlockArgument argument);

// Whether nothing but casts to floats read such an argument.
bool isCastAlone(mlir::func::FuncOp main, mlir::BlockArgument argument);

} // namespace tilewright::quantization
