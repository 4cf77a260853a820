// What tests of chains' plans share.
#pragma once

#include "tilewright/compiler/schedule/chain_plan.h"

namespace tilewright {

// By all choices.
inline std::vector<ChainPlan> allNeighbors(const ChainProblem &p, const ConvMachine &m,
                                           const ChainPlan &plan) {
  std::vector<ChainPlan> all;
  for (size_t choice = 0; choice < static_cast<size_t>(Choice::Count); ++choice)
    for (const ChainPlan &each : neighborsOf(p, m, plan, static_cast<Choice>(choice)))
      all.push_back(each);
  return all;
}

} // namespace tilewright
