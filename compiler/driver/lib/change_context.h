// Takes a module from one of MLIR's contexts to another, so that the first can end with all that it
// keeps.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace tilewright {

// Ends `context` and puts `next` in its place, with the same module: operations, attributes and
// locations; float weights become resources (constant_floats.h). `next` has its dialects loaded.
// Any other module of `context` must be gone.
void changeContext(std::unique_ptr<mlir::MLIRContext> &context,
                   std::unique_ptr<mlir::MLIRContext> next,
                   mlir::OwningOpRef<mlir::ModuleOp> &module);

// The module in a context that has its dialects loaded; its own one keeps what it had.
void enterContext(mlir::MLIRContext &context, mlir::OwningOpRef<mlir::ModuleOp> &module);

} // namespace tilewright
