// DRAM traffic of layers: what their instructions move, and what no schedule moves less of.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/schedule.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright {

// Multiply-accumulates of a convolution or product, taps outside the tensor left out.
int64_t macsOf(mlir::Operation *op);

// Adds what the tasks of `steps` load and store, to the layers that they belong to.
void addTraffic(const isa::Isa &isa, const Steps &steps, std::vector<LayerTraffic> &layers);

// Bytes of each tensor that a group reads: of an image the pixels that some window has, of what is
// one parameter a channel none.
llvm::DenseMap<mlir::Value, int64_t> needsOf(kernel::GroupOp group);

// The least that groups move which run together: every tensor once that is not in `onChip`, a value
// that several read with the first of them. One by itself that is a convolution or product moves no
// less than its products ask for with so much memory on the chip.
std::vector<int64_t> leastTraffic(const isa::Isa &isa, llvm::ArrayRef<kernel::GroupOp> groups,
                                  const llvm::DenseSet<mlir::Value> &onChip);

} // namespace tilewright
