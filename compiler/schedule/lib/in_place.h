// Tensors that are written where an assembly would put them: a concatenation of whole tensors
// needs no copies when their groups write them in place, one behind the other or, of channels,
// their rows side by side. What only assemblies read goes anywhere (scatter.h).
#pragma once

#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright {

struct InPlace {
  struct Part {
    mlir::Value whole;  // the assembled tensor
    int64_t offset = 0; // in it, in elements
    int64_t pitch = 0;  // DramTensor::pitch
  };
  llvm::DenseMap<mlir::Value, Part> parts; // by the result of the group that makes it
  struct Move {
    mlir::Value whole;
    kernel::Region region;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Move, 1>> moves; // by the result of such a group
  // Assembled tensors that are read where their parts stand, by the tensor; `region` leads from it.
  struct Source {
    mlir::Value value;
    kernel::Region region;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Source, 2>> sources;
  llvm::DenseSet<mlir::Operation *> assemblies; // groups that are left nothing to do
};

// Groups of assemblies hold nothing else. A tensor goes into one assembly, whole; who reads it
// otherwise finds it there, and must be able to read rows that stand apart if they do.
InPlace findInPlace(mlir::func::FuncOp function);

// Of an assembly, what it need neither read nor write: its parts that their makers put in place.
struct PlacedBytes {
  int64_t read = 0, written = 0;
};
PlacedBytes placedBytes(kernel::GroupOp group, const InPlace &found);

// Whether a group reads and writes its tensors row by row: it holds no reduction and no assembly.
bool goesByRows(kernel::GroupOp group);

} // namespace tilewright
