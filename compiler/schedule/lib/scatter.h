// Tensors that stand nowhere by themselves. Those that only moves read are never stored as they
// are: the groups that make them store each tile where the moves would put its elements. Those that
// moves make of long runs are never made: who reads them loads each tile from where its elements
// stand. Either way the moves are left nothing to do.
#pragma once

#include "tilewright/compiler/select/kernel_regions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace tilewright {

// Where the elements of a tensor stand instead, or go.
struct Scatter {
  struct Piece {
    kernel::Region region; // of the tensor, as a source; and of the other one, as a result
    int64_t address = 0;   // in DRAM, of the other one
  };
  llvm::SmallVector<Piece, 1> pieces;
};

// A dimension of a strided copy between DRAM and a tile: strides in elements.
struct CopyDim {
  int64_t size, dram, chip;
};

// A strided run of elements of a box: element (i0, i1, ..) of it stands at `tile` + sum(i * chip)
// in a tile whose dimensions are `strides` apart, and goes to `address` + `dram` + sum(i *
// CopyDim::dram); all but the address in elements.
struct ScatteredRun {
  int64_t address = 0, dram = 0, tile = 0;
  llvm::SmallVector<CopyDim> dims; // the largest strides in DRAM first
};

// Whether the elements of a tensor under this shape go where regions put them in runs.
bool isInRuns(const Scatter &scatter, llvm::ArrayRef<int64_t> shape);

// Calls `visit` with the runs of a box, [start, start + size) of each dimension of the shape; of
// one for which isInRuns holds.
void forEachRun(const Scatter &scatter, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> size,
                llvm::ArrayRef<int64_t> strides,
                llvm::function_ref<void(const ScatteredRun &)> visit);

} // namespace tilewright
