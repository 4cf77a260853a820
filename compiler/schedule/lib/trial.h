// What a plan costs: its steps, emitted on an empty chip and given to the estimator.
#pragma once

#include "lowering.h"

#include <functional>
#include <optional>

namespace tilewright {

struct Trial {
  int64_t cycles;
  std::vector<int64_t> layout; // Steps::layout
};

// Makes `better` the best so far, if it is; keeps the best of the others as its runner-up.
// `describe` gives a plan in words. A `Chosen` has plan, cycles and runnerUp.
template <typename Chosen, typename Describe>
void keepBest(std::optional<Chosen> &best, Chosen candidate, const Describe &describe) {
  if (!best) {
    best = std::move(candidate);
    return;
  }
  if (candidate.cycles < best->cycles) {
    std::swap(*best, candidate);
    best->runnerUp = std::nullopt;
  } else if (best->runnerUp && best->runnerUp->cycles <= candidate.cycles) {
    return;
  }
  best->runnerUp = RunnerUp{describe(candidate.plan), candidate.cycles, best->cycles};
}

// Nothing when the steps do not fit on chip. Constants that `lower` adds are forgotten again.
std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower);

} // namespace tilewright
