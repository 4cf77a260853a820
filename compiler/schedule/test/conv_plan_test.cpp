#include "tilewright/compiler/schedule/conv_bound.h"
#include "tilewright/compiler/schedule/conv_plan.h"

#include "plan_cases.h"

#include <gtest/gtest.h>

namespace tilewright {

static ConvProblem problem(int64_t size, int64_t inputs, int64_t outputs, int64_t kernel) {
  ConvProblem p{};
  p.batch = 1;
  p.height = p.width = p.outputHeight = p.outputWidth = size;
  p.inputChannels = inputs;
  p.outputChannels = outputs;
  p.kernelHeight = p.kernelWidth = kernel;
  p.strideY = p.strideX = p.dilationY = p.dilationX = 1;
  p.padTop = p.padLeft = kernel / 2;
  p.residentBytes = 12 * outputs;
  return p;
}

TEST(ConvPlan, FitsOnChip) {
  int64_t smallest = 0;
  for (const ConvProblem &p : {problem(56, 64, 64, 3), problem(7, 512, 512, 3),
                               problem(224, 3, 64, 7), problem(1, 2048, 1000, 1)}) {
    auto plans = planConvolution(p, machine(), 1, &smallest);
    ASSERT_EQ(plans.size(), 1u);
    const ConvPlan *plan = &plans.front();
    EXPECT_LE(plan->spadBytes, machine().spadBytes);
    EXPECT_LE(plan->tileHeight * plan->tileWidth * plan->tileChannels * 4, machine().accBytes / 2);
    EXPECT_EQ(plan->stepChannels == p.outputChannels ||
                  plan->stepChannels % plan->tileChannels == 0,
              true);
  }
}

// As many as a bank holds; the array has the next ones in another one.
TEST(ConvPlan, StoresTilesOfNeighboringChannelsTogetherFromAccumulators) {
  ConvProblem p = problem(8, 64, 1000, 1);
  ConvPlan plan{};
  plan.tileHeight = 1, plan.tileWidth = 8, plan.tileChannels = 64, plan.stepChannels = 1000;
  EXPECT_EQ(mostTilesTogether(p, machine(), plan), 1); // from the scratchpad, all at once
  p.resultInAccumulators = true;
  EXPECT_EQ(mostTilesTogether(p, machine(), plan), 65536 / 2 / (8 * 64 * 4));
  plan.stepChannels = 128;
  EXPECT_EQ(mostTilesTogether(p, machine(), plan), 2);
  plan.tileWidth = 1; // a pixel's channels are one run, or a stream's
  EXPECT_EQ(mostTilesTogether(p, machine(), plan), 1);
  plan.tileWidth = 8;
  p.accBytesPerElement = 4; // one tile's operands alone are there
  EXPECT_EQ(mostTilesTogether(p, machine(), plan), 1);
}

TEST(ConvPlan, NeverBeatsTheArray) {
  int64_t smallest = 0;
  ConvProblem p = problem(28, 128, 128, 3);
  auto plans = planConvolution(p, machine(), 1, &smallest);
  ASSERT_EQ(plans.size(), 1u);
  const ConvPlan *plan = &plans.front();
  double macs = 28.0 * 28 * 128 * 128 * 9;
  EXPECT_GE(plan->estimatedCycles, macs / 256);
  EXPECT_LE(plan->estimatedCycles, 1.25 * macs / 256);
}

TEST(ConvPlan, ExpectsNoTimeForZeros) {
  int64_t smallest = 0;
  const ConvProblem all = problem(28, 128, 128, 3);
  ConvProblem half = all;
  half.filled = 0.5;
  const auto ofAll = planConvolution(all, machine(), 1, &smallest),
             ofHalf = planConvolution(half, machine(), 1, &smallest);
  ASSERT_EQ(ofAll.size(), 1u);
  ASSERT_EQ(ofHalf.size(), 1u);
  EXPECT_LT(ofHalf.front().estimatedCycles, 0.7 * ofAll.front().estimatedCycles);
  EXPECT_GE(ofHalf.front().estimatedCycles,
            static_cast<double>(leastCycles(half, machine(), ofHalf.front())));
}

TEST(ConvPlan, MergesTapsOfFewInputChannels) {
  int64_t smallest = 0;
  ConvMachine machine = tilewright::machine();
  machine.mayGather = false;
  auto plans = planConvolution(problem(224, 3, 64, 3), machine, 1, &smallest);
  ASSERT_EQ(plans.size(), 1u);
  const ConvPlan *plan = &plans.front();
  EXPECT_EQ(plan->merge, TapMerge::Columns);
  EXPECT_EQ(foldCount(problem(224, 3, 64, 3), machine, TapMerge::None), 9);
  EXPECT_EQ(foldCount(problem(224, 3, 64, 3), machine, TapMerge::Columns), 3);
  EXPECT_EQ(foldCount(problem(224, 3, 64, 3), machine, TapMerge::All), 2);
}

TEST(ConvPlan, GathersWindowsWhereTheVectorUnitHasTime) {
  ConvProblem p = problem(224, 3, 64, 7);
  p.outputHeight = p.outputWidth = 112;
  p.strideY = p.strideX = 2;
  p.inputScattered = true;
  int64_t smallest = 0;
  ConvMachine copies = machine();
  auto plans = planConvolution(p, copies, 1, &smallest);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans.front().merge, TapMerge::All);
  // 147 elements of a window: ten folds of 16 instead of seven times two.
  EXPECT_EQ(foldCount(p, copies, TapMerge::All), 10);
  EXPECT_EQ(foldCount(p, copies, TapMerge::Columns), 14);
  // A pixel's column of 7 taps of 3 channels: two beats of 16 lanes, at 229 columns.
  EXPECT_EQ(gathered(p, copies, TapMerge::All, 1, 112).elements, 229 * 21);
  EXPECT_EQ(gathered(p, copies, TapMerge::All, 1, 112).beats, 229 * 2);
  copies.mayGather = false;
  plans = planConvolution(p, copies, 1, &smallest);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans.front().merge, TapMerge::Columns);
}

// All pixels go by once for each time that the resident weights are others.
TEST(ConvPlan, ReadsTheInputOnceForSeveralStepsOfChannels) {
  const ConvProblem p = problem(32, 64, 256, 1);
  ConvPlan plan{};
  plan.stepHeight = plan.tileHeight = 4;
  plan.stepWidth = plan.tileWidth = 32;
  plan.stepChannels = plan.tileChannels = 32;
  plan.weightParts = 1;
  plan.inputDoubled = true;
  int64_t before = 0;
  for (const int64_t steps : {1, 2, 4, 8}) {
    plan.residentSteps = steps;
    assess(p, machine(), plan);
    EXPECT_EQ(plan.inputLoads, 8 * 8 / steps) << steps;
    EXPECT_EQ(plan.weightLoads, 8) << steps;
    EXPECT_GT(plan.spadBytes - plan.gapBytes, before) << steps;
    before = plan.spadBytes - plan.gapBytes;
  }
}

// Runs of short parts leave DRAM idle where bursts are long.
TEST(ConvPlan, PartsOfAnInputAreHalvesOfABurstAtLeast) {
  const ConvProblem p = problem(14, 512, 64, 1);
  ConvMachine m = machine();
  m.burstBytes = 512;
  EXPECT_EQ(usualInputParts(p, m, TapMerge::None), 2);
  m.burstBytes = 256;
  EXPECT_EQ(usualInputParts(p, m, TapMerge::None), 4);
}

TEST(ConvPlan, TellsTheSmallestScratchpadWhenNothingFits) {
  ConvMachine tiny = machine();
  tiny.spadBytes = 1024;
  int64_t smallest = 0;
  ConvProblem p = problem(56, 256, 256, 3);
  EXPECT_TRUE(planConvolution(p, tiny, 1, &smallest).empty());
  tiny.spadBytes = smallest + smallest / 15 + 1;
  EXPECT_FALSE(planConvolution(p, tiny, 1, &smallest).empty());
}

TEST(ConvPlan, OffersPlansThatKeepTheInputWhereGapsWouldNotLetIt) {
  ConvProblem p = problem(28, 256, 256, 3);
  p.outputHeight = p.outputWidth = 14;
  p.strideY = p.strideX = 2;
  int64_t smallest = 0;
  auto plans = planConvolution(p, machine(), 8, &smallest);
  ASSERT_GT(plans.size(), 1u);
  EXPECT_TRUE(isSafe(plans.front(), machine()));
  bool keeps = false;
  for (const ConvPlan &plan : plans) {
    EXPECT_LE(plan.spadBytes - plan.gapBytes, machine().spadBytes);
    keeps = keeps || (plan.inputLoads == 1 && !isSafe(plan, machine()));
  }
  EXPECT_TRUE(keeps);
}

} // namespace tilewright
