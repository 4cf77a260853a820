// Element types of the program file as MLIR types, and back.
#pragma once

#include "tilewright/support/npy.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tilewright::npu {

mlir::Type typeOf(DType type, mlir::MLIRContext *context);
// Nothing for a type that no tensor of a program has.
std::optional<DType> dtypeOf(mlir::Type type);

} // namespace tilewright::npu
