// The space of a run's plans: its chains' own spaces, and which of them leave their results on
// chip.
#include "tilewright/compiler/schedule/run_space.h"

#include "plan_cases.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

constexpr size_t ofMember = 1 + FusedStackSpace::DimensionCount;

// Pairs of a convolution and a depthwise one, then a whole block.
std::vector<RunMember> members() {
  ConvProblem conv{};
  conv.batch = 1, conv.height = conv.width = conv.outputHeight = conv.outputWidth = 14;
  conv.inputChannels = conv.outputChannels = 96;
  conv.kernelHeight = conv.kernelWidth = conv.strideY = conv.strideX = 1;
  conv.dilationY = conv.dilationX = 1;
  conv.residentBytes = 12 * 96;
  WindowProblem window{};
  window.batch = 1;
  window.height = window.width = window.outputHeight = window.outputWidth = 14;
  window.channels = window.inputChannels = 96, window.multiplier = 1;
  window.kernelHeight = window.kernelWidth = 3, window.strideY = window.strideX = 1;
  window.padTop = window.padLeft = 1;
  RunMember pair;
  pair.problem.head = conv, pair.problem.window = window;
  pair.problem.windowIsDepthwise = pair.problem.mayReduceOnArray = true;
  pair.mayTake = true;
  RunMember block = pair;
  block.problem.tail = conv;
  return {pair, pair, block};
}

} // namespace

TEST(RunSpace, WhatStaysOnChipIsWhole) {
  const RunSpace space(members(), machine());
  EXPECT_EQ(space.dimensions(), 3 * ofMember);
  size_t handed = 0, apart = 0, stripes = 0;
  drawLegalPoints(space, [&](const PlanPoint &point) {
    const std::vector<RunSpace::Plan> plans = space.plan(point);
    ASSERT_EQ(plans.size(), 3u);
    EXPECT_EQ(space.point(plans), point);
    EXPECT_EQ(space.features(point).size(), space.features(space.point(plans)).size());
    EXPECT_FALSE(plans.back().handsOn);
    for (size_t i = 0; i + 1 < plans.size(); ++i) {
      (plans[i].handsOn ? handed : apart) += 1;
      if (!plans[i].handsOn)
        continue;
      EXPECT_TRUE(isWhole(members()[i].problem, plans[i].chain));
      EXPECT_TRUE(isWhole(members()[i + 1].problem, plans[i + 1].chain));
      EXPECT_EQ(plans[i + 1].chain.headMerge, TapMerge::None);
    }
    stripes += !isWhole(members()[2].problem, plans[2].chain);
  });
  EXPECT_GT(handed, 20u);
  EXPECT_GT(apart, 20u);
  EXPECT_GT(stripes, 20u);
}

TEST(RunSpace, NoChainHandsOnToOneThatMayNotTake) {
  std::vector<RunMember> run = members();
  run[1].mayTake = false;
  const RunSpace space(run, machine());
  const PlanPoint point(space.dimensions(), 0);
  EXPECT_EQ(space.choices(point, 0), (std::vector<int64_t>{0}));
  EXPECT_EQ(space.choices(point, ofMember), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(space.choices(point, 2 * ofMember), (std::vector<int64_t>{0}));
}

TEST(RunSpace, TakesAsLongAsItsChains) {
  const RunSpace space(members(), machine());
  Random random(4);
  const PlanPoint point = *randomPoint(space, random);
  double cycles = 0;
  for (const RunSpace::Plan &plan : space.plan(point))
    cycles += plan.chain.estimatedCycles;
  EXPECT_DOUBLE_EQ(space.analyticCycles(point), cycles);
}

} // namespace tilewright
