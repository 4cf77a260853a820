// Lowers kernels of TOSA operators (see kernels.h) to the LLVM dialect.
#pragma once

#include "register_blocks.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tilewright::float_kernels {

// Makes the dialects and interfaces that the lowering needs known to `context`.
void registerLowering(mlir::MLIRContext &context);

struct LoweringFailure {
  mlir::Location location; // of the operator that cannot be lowered
  std::string op;          // as TOSA calls it: "tosa.fft2d"
  std::string message;     // MLIR's reason, may be empty
};

// Lowers all kernels in place.
std::optional<LoweringFailure> lowerToLlvm(mlir::ModuleOp kernels, const BlockShape &blocks);

} // namespace tilewright::float_kernels
