// Reads a module of one of the compiler's own stages.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace tilewright {

// Parses MLIR text, verifies it and runs `check`, whose failure comes with a diagnostic. Meanwhile
// every operation stands at its place in the file, so that all diagnostics name line and column;
// then each goes to the location that the text gives it. Only dialects that the context has loaded
// are read. Throws UserError with the first diagnostic, and for bytecode.
mlir::OwningOpRef<mlir::ModuleOp>
parseModule(const std::string &path, const std::string &bytes, mlir::MLIRContext &context,
            llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> check);

} // namespace tilewright
