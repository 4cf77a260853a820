// Which layers run as chains (chain.h): those that the estimator finds faster together than apart.
#pragma once

#include "chain.h"

#include "llvm/ADT/DenseSet.h"

#include <map>

namespace tilewright {

struct Chains {
  struct Chain {
    ChainedGroups chained;
    ChosenChain chosen;
  };
  std::map<size_t, Chain> byFirst;    // by the place of its first group in the program
  llvm::DenseSet<mlir::Value> onChip; // results that never come to DRAM
};

// `groups`: those of the program, in its order; a group's place is its layer.
Chains findChains(LoweringContext &context, const std::vector<kernel::GroupOp> &groups);

} // namespace tilewright
