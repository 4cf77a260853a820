#include "plan_cases.h"

#include "tilewright/compiler/schedule/conv_bound.h"

namespace tilewright {

// 32 channels of 14x14 pixels to 64, in steps of 7 rows by 32 channels.
static ConvPlan plan() {
  ConvPlan plan{};
  plan.stepHeight = plan.tileHeight = 7;
  plan.stepWidth = plan.tileWidth = 14;
  plan.stepChannels = plan.tileChannels = 32;
  plan.weightParts = 1;
  return plan;
}
static ConvProblem problem(int64_t kernel, int64_t pad) {
  return {1, 14, 14, 32, 14, 14, 64, kernel, kernel, 1, 1, 1, 1, pad, pad};
}
static ConvMachine quick() { // whose DRAM bounds nothing
  ConvMachine quick = machine();
  quick.accessBytes = quick.peakBytesPerCycle = 1 << 20;
  return quick;
}

TEST(ConvBound, TheArrayTakesARowACycle) {
  EXPECT_EQ(leastCycles(problem(1, 0), quick(), plan()), 2 * 4 * 14 * 14); // folds, column tiles
}

// Along an axis, two of three taps lie outside once.
TEST(ConvBound, TapsInThePaddingTakeNothing) {
  EXPECT_EQ(leastCycles(problem(3, 1), quick(), plan()), 2 * 4 * (3 * 14 - 2) * (3 * 14 - 2));
}

TEST(ConvBound, ProductsKeepAllCellsBusyAtBest) {
  EXPECT_EQ(leastProducts(problem(1, 0), quick()), 2 * 4 * 14 * 14);
  EXPECT_EQ(leastProducts(problem(3, 1), quick()), 2 * 4 * (3 * 14 - 2) * (3 * 14 - 2));
  ConvProblem odd = problem(1, 0); // half of a fold: other taps may fill it
  odd.inputChannels = 8, odd.batch = 3;
  EXPECT_EQ(leastProducts(odd, quick()), 3 * 4 * 14 * 14 / 2);
}

TEST(ConvBound, ZerosTakeNothing) {
  ConvProblem half = problem(1, 0);
  half.filled = 0.5;
  EXPECT_EQ(leastProducts(half, quick()), leastProducts(problem(1, 0), quick()) / 2);
  EXPECT_EQ(leastCycles(half, quick(), plan()), leastCycles(problem(1, 0), quick(), plan()) / 2);
}

// Squares of several taps may have no zeros alone.
TEST(ConvBound, ZerosOfMergedTapsCountForNothing) {
  ConvProblem half = problem(3, 1);
  half.filled = 0.5;
  ConvPlan merged = plan();
  merged.merge = TapMerge::All;
  EXPECT_EQ(leastCycles(half, quick(), merged), 0);
}

TEST(ConvBound, WeightsComeInUnderTheProductBefore) {
  ConvPlan small = plan();
  small.stepHeight = small.tileHeight = 1;
  small.stepWidth = small.tileWidth = 7;
  EXPECT_EQ(leastCycles(problem(1, 0), quick(), small), 4 * 14 * 2 * (32 + 2));
}

TEST(ConvBound, TheBusCarriesWhatTheLoopsLoad) {
  ConvMachine slow = machine();
  slow.accessBytes = slow.peakBytesPerCycle = 1;
  slow.instructionBytes = 16;
  const int64_t weights = 32 * 64, input = 14 * 14 * 32, code = 2 * 2 * 4 * 2 * 16;
  ConvPlan each = plan(); // two places of two chunks
  EXPECT_EQ(leastCycles(problem(1, 0), slow, each), 2 * weights + input + code);
  each.turns = true;
  EXPECT_EQ(leastCycles(problem(1, 0), slow, each), 2 * weights - weights / 2 + input + code);
  each.residentSteps = 1;
  EXPECT_EQ(leastCycles(problem(1, 0), slow, each), weights + 2 * input - input / 2 + code);
  each.residentSteps = 2; // both chunks: the input goes by once
  EXPECT_EQ(leastCycles(problem(1, 0), slow, each), weights + input + code);
  each.residentSteps = 1;
  each.turns = false;
  EXPECT_EQ(leastCycles(problem(1, 0), slow, each), weights + 2 * input + code);
  each.stepChannels = 64;
  EXPECT_EQ(leastCycles(problem(1, 0), slow, each), weights + input + code);
}

} // namespace tilewright
