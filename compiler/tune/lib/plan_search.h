// The search for the fastest plan of one kernel.
//
// 1. The planner's plan is the first trial. Then come the other plans given, and plans drawn at
// random, to fill a batch.
// 2. Batch after batch, a model learns the order of what was measured; plans evolve under its
// score from the best ones, by mutation and crossover, and the best of them are measured, together
// with neighbors of the fastest plans.
// A batch is drawn before any of it is measured: results do not depend on how many are measured at
// once.
#pragma once

#include "tilewright/compiler/schedule/plan_space.h"
#include "tilewright/compiler/tune/tune.h"

#include <functional>
#include <optional>
#include <vector>

namespace tilewright {

// Cycles of each plan; nothing for those that do not fit on chip, which are no trials.
using Measure = std::function<std::vector<std::optional<int64_t>>(const std::vector<PlanPoint> &)>;

struct SearchTask {
  const PlanSpace &space;
  PlanPoint planned;
  std::vector<PlanPoint> others; // good guesses
  int64_t trials;
  uint64_t seed;
  SearchKind kind; // at random: `others` are not looked at
};

struct MeasuredPlan {
  PlanPoint point;
  int64_t cycles;
};

// What was measured, in order, the planner's plan first; fewer than `trials` when the space has no
// more. Empty when the planner's plan does not fit.
std::vector<MeasuredPlan> searchPlans(const SearchTask &task, const Measure &measure,
                                      const std::function<void(int64_t trial)> &progress);

// The fastest; the first of equals.
const MeasuredPlan &bestOf(const std::vector<MeasuredPlan> &measured);

} // namespace tilewright
