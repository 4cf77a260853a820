// Small questions about TOSA graphs.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "tilewright/compiler/tosa/tensor_types.h"
#include "tilewright/support/error.h"

#include <optional>
#include <vector>

namespace tilewright::quantization {

// @main of one block, which every importer gives.
mlir::func::FuncOp mainOf(mlir::ModuleOp module);

bool isFloat(mlir::Value value);

// The elements of a constant float tensor; nothing when `value` is not one.
std::optional<std::vector<double>> constantReals(mlir::Value value);

// Whether `shape` broadcasts along every dimension but the last.
bool variesAlongLastOnly(llvm::ArrayRef<int64_t> shape);

// Where reports and errors place `op`: the user's operator.
SourceLocation sourceLocationOf(mlir::Operation *op);

} // namespace tilewright::quantization
