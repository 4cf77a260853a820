// Which layers run as chains (chain.h): those that the estimator finds faster together than apart.
#pragma once

#include "chain.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>

namespace tilewright {

class Workers;

struct Chains {
  struct Chain {
    ChainedGroups chained;
    ChosenChain chosen;
    bool isFinal = false; // the tuner has chosen it
  };
  // Chains that hand their tensors on to each other, or one.
  struct Run {
    std::vector<Chain> chains;
    RunLayout layout;
  };
  std::map<size_t, Run> byFirst;      // by the place of its first group in the program
  llvm::DenseSet<mlir::Value> onChip; // results that never come to DRAM
  // The last group of a group's run; without a chain, the group.
  mlir::Operation *lastOf(kernel::GroupOp group) const {
    mlir::Operation *last = lasts.lookup(group);
    return last ? last : group.getOperation();
  }
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> lasts;
};

// `groups`: those of the program, in its order; a group's place is its layer. `tuner`, if there is
// one, is asked for the plans of chains that hand their results on.
Chains findChains(LoweringContext &context, Workers &workers,
                  const std::vector<kernel::GroupOp> &groups, Tuner *tuner);

} // namespace tilewright
