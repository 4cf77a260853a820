// Ranks that kernels have in common, so that one loop nest over their tiles can run them one after
// the other (the outer loops of a mapping, in the sense of LoopTree: Gilbert et al., 2024).
//
// A kernel's iteration space is a list of extents, outermost first; an operand has, for each of
// them, the same extent or 1. What one kernel hands to another may be read under another shape of
// the same elements.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright {

using Extents = llvm::SmallVector<int64_t>;

struct KernelRanks {
  struct Operand {
    Extents shape;
    bool isInternal = false; // another kernel of the nest makes it
  };
  Extents space;
  // The first rank that is its own, or -1: it reduces along that one, or needs all of it at once.
  int own = -1;
  std::vector<Operand> operands;
  bool keepsLast = false; // the last rank is not merged with others
};

// The nest's loops: `outer` ones, which every iteration space begins with, and perhaps a last one,
// which every one ends with. In between a kernel has ranks of its own.
struct CommonRanks {
  Extents outer;
  int64_t last = 0; // 0: there is none
  int64_t elements() const;
};

// The most ranks that the kernels have in common, as few as possible of them outermost; nothing
// where they have none. Each tensor within the nest has all of them.
std::optional<CommonRanks> commonRanks(llvm::ArrayRef<KernelRanks> kernels);

// An operand, or the space, of a kernel under those ranks: the outer ones, 1 where it has one
// element for all; the kernel's own as they are; the last one.
Extents underRanks(const CommonRanks &common, llvm::ArrayRef<int64_t> space,
                   llvm::ArrayRef<int64_t> operand);

// Merges neighbors among `extents[first, end)` of all shapes where each operand has either both or
// none. `shapes`: those of the operands and last the space's.
void mergeNeighbors(std::vector<Extents> &shapes, size_t first, size_t end);

} // namespace tilewright
