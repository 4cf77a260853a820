// ctest -R StandingPlan: cycles of sums that stand in the array, and plans with them.
#include "plan_cases.h"

#include "tilewright/compiler/schedule/conv_bound.h"
#include "tilewright/compiler/schedule/standing_plan.h"

namespace tilewright {
namespace {

ConvProblem problem(int64_t size, int64_t channels, int64_t kernel) {
  const int64_t pad = kernel / 2;
  return {1, size, size, channels, size, size, 64, kernel, kernel, 1, 1, 1, 1, pad, pad};
}

ConvMachine standingMachine() {
  ConvMachine m = machine();
  m.standing = StandingLimits{{2047, 2047}, {255, 255}, 65535};
  return m;
}

std::vector<ConvPlan> plans(const ConvProblem &p, const ConvMachine &m) {
  int64_t smallest = 0;
  return planStanding(p, m, 8, &smallest);
}

} // namespace

TEST(StandingPlan, ABlockTakesACycleAProduct) {
  const ConvMachine m = standingMachine();
  EXPECT_EQ(standingCycles(problem(14, 32, 1), m, TapMerge::None, 16), 32);
  EXPECT_EQ(standingCycles(problem(14, 32, 1), m, TapMerge::None, 17), 64);
  EXPECT_EQ(standingCycles(problem(14, 32, 3), m, TapMerge::None, 16), 9 * 32);
  // A chunk that is too short for its pixels waits for them.
  EXPECT_EQ(standingCycles(problem(14, 20, 3), m, TapMerge::None, 16), 9 * 32);
  EXPECT_EQ(standingCycles(problem(14, 20, 3), m, TapMerge::None, 3), 9 * 20);
  EXPECT_EQ(standingCycles(problem(14, 20, 3), m, TapMerge::Columns, 16), 3 * 64);
  EXPECT_EQ(standingCycles(problem(14, 20, 3), m, TapMerge::All, 16), 192);
}

TEST(StandingPlan, TapsAreWhatIsNotMerged) {
  auto expectTaps = [](TapMerge merge, int64_t rows, int64_t columns, int64_t depth) {
    const StandingTaps taps = standingTaps(problem(14, 20, 3), merge);
    EXPECT_EQ(taps.rows, rows);
    EXPECT_EQ(taps.columns, columns);
    EXPECT_EQ(taps.depth, depth);
  };
  expectTaps(TapMerge::None, 3, 3, 20);
  expectTaps(TapMerge::Columns, 3, 1, 60);
  expectTaps(TapMerge::All, 1, 1, 180);
}

TEST(StandingPlan, NeedsAnInstructionThatCountsSoFar) {
  const ConvProblem p = problem(14, 32, 3);
  EXPECT_TRUE(plans(p, machine()).empty());
  EXPECT_FALSE(plans(p, standingMachine()).empty());
  ConvMachine m = standingMachine();
  m.standing->depth = 9 * 32 - 1;
  EXPECT_FALSE(mayStand(p, m));
  EXPECT_TRUE(plans(p, m).empty());
  m.standing->depth = 9 * 32;
  EXPECT_TRUE(mayStand(p, m));
  m.standing->taps[0] = 2;
  EXPECT_FALSE(mayStand(p, m));
  m.standing->taps = {3, 2};
  EXPECT_FALSE(mayStand(p, m));
}

TEST(StandingPlan, TilesAreCountedByTheInstruction) {
  ConvMachine m = standingMachine();
  m.standing->outputs = {5, 3};
  const auto made = plans(problem(14, 32, 3), m);
  ASSERT_FALSE(made.empty());
  for (const ConvPlan &plan : made) {
    EXPECT_EQ(plan.stands, Stands::Sums);
    EXPECT_EQ(plan.weightParts, 1);
    EXPECT_EQ(plan.inputParts, 1);
    EXPECT_LE(plan.tileHeight, 3);
    EXPECT_LE(plan.tileWidth, 3);
  }
}

TEST(StandingPlan, IsEstimatedByItsBlocks) {
  const ConvProblem p = problem(14, 32, 1);
  ConvMachine m = standingMachine(); // nothing but the array takes time
  m.dramBytesPerCycle = m.accessBytes = m.peakBytesPerCycle = m.spadPort = 1e9;
  m.lanes = 1 << 20;
  m.writeOverhead = 0, m.vectorOverhead = 0, m.dramLatency = 0;
  ConvPlan plan = plans(p, m).front();
  plan.tileHeight = plan.stepHeight = 14, plan.tileWidth = plan.stepWidth = 14;
  plan.tileChannels = plan.stepChannels = 64, plan.residentSteps = 0;
  assess(p, m, plan);
  EXPECT_NEAR(plan.estimatedCycles, 4 * 13 * 32, 30);
  // Blocks of 14 of 16 pixels.
  plan.tileHeight = 1;
  assess(p, m, plan);
  EXPECT_NEAR(plan.estimatedCycles, 4 * 14 * 32, 30);
  EXPECT_EQ(leastCycles(p, m, plan), 4 * 14 * 32);
  plan.tileHeight = 14;
  EXPECT_EQ(leastCycles(p, m, plan), 4 * 13 * 32);
}

TEST(StandingPlan, SaysSo) {
  const ConvProblem p = problem(14, 32, 1);
  EXPECT_NE(describe(p, plans(p, standingMachine()).front()).find(", output-stationary"),
            std::string::npos);
}

} // namespace tilewright
