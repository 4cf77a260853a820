// What tests of chains' plans share.
#pragma once

#include "tilewright/compiler/schedule/fused_stack_plan.h"

namespace tilewright {

// By all choices.
inline std::vector<FusedStackPlan> allNeighbors(const FusedStackProblem &p, const ConvMachine &m,
                                                const FusedStackPlan &plan) {
  std::vector<FusedStackPlan> all;
  for (size_t choice = 0; choice < static_cast<size_t>(Choice::Count); ++choice)
    for (const FusedStackPlan &each : neighborsOf(p, m, plan, static_cast<Choice>(choice)))
      all.push_back(each);
  return all;
}

} // namespace tilewright
