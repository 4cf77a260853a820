// Tensors that are written where an assembly would put them: a concatenation that lays whole
// tensors one behind the other needs no copies when their groups write them in place.
#pragma once

#include "tilewright/compiler/kernel_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright {

struct InPlace {
  struct Part {
    mlir::Value whole;  // the assembled tensor
    int64_t offset = 0; // in it, in elements
  };
  llvm::DenseMap<mlir::Value, Part> parts;      // by the result of the group that makes it
  llvm::DenseSet<mlir::Operation *> assemblies; // groups that are left nothing to do
};

// What nothing but one assembly reads, whole and as one run. Groups of assemblies hold nothing
// else.
InPlace findInPlace(mlir::func::FuncOp function);

} // namespace tilewright
