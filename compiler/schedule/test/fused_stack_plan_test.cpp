#include "tilewright/compiler/schedule/fused_stack_plan.h"

#include "chain_cases.h"

#include "tilewright/compiler/schedule/fused_stack_space.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace tilewright {

namespace {

constexpr int64_t size = 23, inner = 96; // pixels a side; channels between the layers

ConvMachine machine() {
  isa::LoadOptions options;
  return ConvMachine::of(isa::load(options));
}

ConvProblem pointwise(int64_t side, int64_t from, int64_t to) {
  ConvProblem p{};
  p.batch = 1, p.height = p.width = p.outputHeight = p.outputWidth = side;
  p.inputChannels = from, p.outputChannels = to;
  p.kernelHeight = p.kernelWidth = p.strideY = p.strideX = p.dilationY = p.dilationX = 1;
  return p;
}

WindowProblem depthwise(int64_t kernel, int64_t stride) {
  WindowProblem w{};
  w.batch = 1, w.height = w.width = size, w.channels = w.inputChannels = inner, w.multiplier = 1;
  w.kernelHeight = w.kernelWidth = kernel, w.strideY = w.strideX = stride;
  w.padTop = w.padLeft = kernel / 2;
  w.outputHeight = w.outputWidth = (size - 1) / stride + 1;
  return w;
}

FusedStackProblem block(int64_t kernel, int64_t stride) {
  FusedStackProblem p;
  p.head = pointwise(size, 24, inner);
  p.window = depthwise(kernel, stride);
  p.windowIsDepthwise = p.mayReduceOnArray = true;
  p.tail = pointwise(p.window->outputHeight, inner, 40);
  return p;
}

// A sum over the pixels of its windows instead of a tail.
FusedStackProblem summed(bool isImageStored) {
  FusedStackProblem p = block(3, 1);
  p.tail.reset();
  p.sum = {isImageStored, 0, 0, 0};
  return p;
}

class Blocks : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {};

} // namespace

// Where the vector unit copies, those that the stripe before has are not loaded again, unless that
// one's input makes way for them.
TEST(ScatteredInput, RowsThatTwoStripesReadAreLoadedOnce) {
  FusedStackProblem p = block(3, 1);
  p.head->inputScattered = true;
  p.head->kernelHeight = p.head->kernelWidth = 3;
  p.head->padTop = p.head->padLeft = 1;
  ConvMachine copies = machine(), loads = copies;
  loads.mayGather = false;
  FusedStackPlan plan = planFusedStack(p, loads, 1).front();
  plan.tileRows = 2;
  const auto cyclesOn = [&](const ConvMachine &m) {
    assess(p, m, plan);
    return plan.estimatedCycles;
  };
  EXPECT_LT(cyclesOn(copies), cyclesOn(loads));
  plan.copies[static_cast<size_t>(Copies::Inputs)] = 1;
  EXPECT_EQ(cyclesOn(copies), cyclesOn(loads));
}

// Each row of the window's input that a stripe's taps touch is made, and no row outside the tensor.
TEST_P(Blocks, StripesHaveTheRowsThatTheirTapsTouch) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  for (int64_t begin = 0; begin < p.tail->outputHeight; ++begin)
    for (int64_t end = begin + 1; end <= p.tail->outputHeight; ++end) {
      const TileRows rows = tileRows(p, {begin, end});
      EXPECT_EQ(rows.window.begin, begin);
      EXPECT_EQ(rows.window.end, end);
      int64_t first = size, last = -1;
      for (int64_t y = begin; y < end; ++y)
        for (int64_t k = 0; k < kernel; ++k)
          if (const int64_t row = y * stride + k - kernel / 2; row >= 0 && row < size)
            first = std::min(first, row), last = std::max(last, row);
      EXPECT_EQ(rows.head.begin, first);
      EXPECT_EQ(rows.head.end, last + 1);
    }
}

// Segments of any number of stripes: what a stripe reads is on chip, and a segment makes each row
// of the head once.
TEST_P(Blocks, SegmentsMakeTheirRowsOnce) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  FusedStackPlan plan{};
  for (plan.tileRows = 1; plan.tileRows <= p.tail->outputHeight; ++plan.tileRows)
    for (plan.cachedTiles = 1; plan.cachedTiles <= 6; ++plan.cachedTiles) {
      const std::vector<Stripe> stripes = stripesOf(p, plan);
      int64_t most = 0;
      for (size_t i = 0; i < stripes.size(); ++i) {
        const auto &[needed, made, first] = stripes[i];
        const bool begins = i % static_cast<size_t>(plan.cachedTiles) == 0;
        EXPECT_EQ(made.begin, begins ? needed.head.begin : stripes[i - 1].made.end);
        EXPECT_EQ(first, begins ? needed.head.begin : stripes[i - 1].first);
        EXPECT_LE(first, needed.head.begin);
        EXPECT_GE(made.end, needed.head.end);
        EXPECT_LE(made.end, size);
        most = std::max(most, made.end - first);
      }
      EXPECT_EQ(keptRows(stripes), most);
    }
}

TEST_P(Blocks, AreDescribedWithAllTheirStripes) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  FusedStackPlan plan{};
  plan.chunkChannels = inner;
  for (plan.tileRows = 1; plan.tileRows <= p.tail->outputHeight; ++plan.tileRows)
    for (plan.firstRows = 0; plan.firstRows <= plan.tileRows; ++plan.firstRows)
      EXPECT_NE(
          describe(p, plan).find(" " + std::to_string(stripesOf(p, plan).size()) + " tiles of"),
          std::string::npos)
          << describe(p, plan);
}

// Each stripe but the first one, for which there is nothing to do at the same time.
TEST(FusedStackPlan, EqualStripesTakeEqualTime) {
  constexpr int64_t rows = 4;
  auto cyclesOf = [&](int64_t stripes) {
    FusedStackProblem p;
    p.head = pointwise(size, 24, inner), p.tail = pointwise(size, inner, 40);
    for (ConvProblem *conv : {&*p.head, &*p.tail})
      conv->height = conv->outputHeight = stripes * rows;
    FusedStackPlan plan{};
    plan.tileRows = rows, plan.chunkChannels = inner, plan.keepsWeights = true;
    plan.headRows = plan.tailRows = rows, plan.tailChannels = 16;
    assess(p, machine(), plan);
    return plan.estimatedCycles;
  };
  const double each = cyclesOf(3) - cyclesOf(2);
  EXPECT_GT(each, 0);
  for (int64_t stripes : {4, 9, 28})
    EXPECT_NEAR(cyclesOf(stripes), cyclesOf(2) + each * static_cast<double>(stripes - 2), 1e-3);
}

// Nothing is made twice where one segment has room for all rows.
TEST_P(Blocks, KeptRowsAreNotMadeAgain) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  EXPECT_EQ(sharesRows(p), kernel > stride);
  const ConvMachine m = machine();
  size_t kept = 0;
  for (FusedStackPlan plan : planFusedStack(p, m, 100)) {
    kept += plan.cachedTiles > 1;
    const double before = plan.estimatedCycles;
    if (plan.cachedTiles == 1)
      continue;
    plan.cachedTiles = 1;
    assess(p, m, plan);
    EXPECT_LE(before, plan.estimatedCycles);
  }
  EXPECT_GT(kept, 0u);
}

TEST_P(Blocks, NeighborsDifferInOneStepAndFit) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  const ConvMachine m = machine();
  for (const FusedStackPlan &plan : planFusedStack(p, m, 8)) {
    const std::vector<FusedStackPlan> neighbors = allNeighbors(p, m, plan);
    EXPECT_GE(neighbors.size(), 4u) << describe(p, plan);
    for (const FusedStackPlan &other : neighbors) {
      EXPECT_LE(other.spadBytes, m.spadBytes);
      EXPECT_LE(other.accBytes, m.accBytes);
      EXPECT_LE(other.tailRows, other.tileRows);
      const int64_t count = static_cast<int64_t>(stripesOf(p, other).size());
      EXPECT_LE(other.cachedTiles, count);
      // A step of the stripes takes tiles and segments with it.
      const bool hasSameStripes = other.tileRows == plan.tileRows;
      int differences = other.arrayUnits != plan.arrayUnits;
      differences += other.chunkChannels != plan.chunkChannels;
      differences += !hasSameStripes || other.cachedTiles != plan.cachedTiles;
      differences += hasSameStripes && other.headRows != plan.headRows;
      differences += hasSameStripes && other.tailRows != plan.tailRows;
      differences += hasSameStripes && other.keepsWeights != plan.keepsWeights;
      differences += other.copies != plan.copies;
      differences += other.laneRows != plan.laneRows;
      differences += hasSameStripes && other.chunkChannels == plan.chunkChannels &&
                     other.tailComesLast != plan.tailComesLast;
      differences += other.tailChannels != plan.tailChannels;
      differences += hasSameStripes && other.firstRows != plan.firstRows &&
                     other.cachedTiles == plan.cachedTiles;
      EXPECT_EQ(differences, 1) << describe(p, plan) << "; " << describe(p, other);
    }
  }
}

// Whatever a plan has beyond planFusedStack, those after it are plans that the tuner knows.
TEST_P(Blocks, NeighborsOfNeighborsArePointsOfTheSpace) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  const ConvMachine m = machine();
  const FusedStackSpace space(p, m);
  bool hasMoreSums = false, hasLaneRows = false, hasOneInput = false, hasFirstRows = false,
       hasWideTails = false;
  auto check = [&](const FusedStackPlan &plan) {
    const PlanPoint point = space.point(plan);
    for (size_t d = 0; d < space.dimensions(); ++d)
      EXPECT_EQ(llvm::count(space.choices(point, d), point[d]), 1) << describe(p, plan) << " " << d;
    hasMoreSums |= copiesOf(p, plan, Copies::HeadSums) > 2;
    hasLaneRows |= plan.laneRows > 0;
    hasOneInput |= copiesOf(p, plan, Copies::Inputs) == 1;
    hasFirstRows |= plan.firstRows > 0;
    hasWideTails |= plan.tailChannels > m.cols;
  };
  for (const FusedStackPlan &plan : planFusedStack(p, m, 4))
    for (const FusedStackPlan &other : allNeighbors(p, m, plan))
      for (const FusedStackPlan &next : allNeighbors(p, m, other)) {
        check(other);
        check(next);
      }
  EXPECT_TRUE(hasMoreSums);
  EXPECT_TRUE(hasLaneRows);
  EXPECT_TRUE(hasOneInput);
  EXPECT_TRUE(hasFirstRows);
  EXPECT_TRUE(hasWideTails);
}

// Each choice alone says what a neighbor has otherwise, and none gives a plan twice.
TEST_P(Blocks, NeighborsByAllChoicesAreDifferentPlans) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  const ConvMachine m = machine();
  const FusedStackSpace space(p, m);
  for (const FusedStackPlan &plan : planFusedStack(p, m, 4)) {
    std::set<PlanPoint> known{space.point(plan)};
    for (const FusedStackPlan &other : allNeighbors(p, m, plan))
      EXPECT_TRUE(known.insert(space.point(other)).second) << describe(p, other);
  }
}

// Where not even one row of its sums fits beside others, a tail behind a window comes last.
TEST(FusedStackPlan, ATailComesLastWhereARowOfItsSumsDoesNotFit) {
  FusedStackProblem p = block(3, 1);
  p.head.reset();
  p.tail->outputChannels = 720;
  ASSERT_GT(size * p.tail->outputChannels * 4, machine().accBytes);
  size_t parted = 0;
  for (const FusedStackPlan &plan : planFusedStack(p, machine(), 100)) {
    EXPECT_LE(plan.accBytes, machine().accBytes);
    EXPECT_EQ(plan.tailComesLast, plan.chunkChannels < inner) << describe(p, plan);
    parted += plan.tailComesLast;
  }
  EXPECT_GT(parted, 0u);
}

// Neither kind of plans keeps the other one from being tried out.
TEST(FusedStackPlan, PlansWhoseTailComesLastAndOthersTakeTurns) {
  FusedStackProblem p = block(3, 1);
  p.head.reset();
  const std::vector<FusedStackPlan> plans = planFusedStack(p, machine(), 100);
  const int64_t last =
      llvm::count_if(plans, [](const FusedStackPlan &plan) { return plan.tailComesLast; });
  const auto turns = static_cast<size_t>(std::min(last, static_cast<int64_t>(plans.size()) - last));
  ASSERT_GT(turns, 2u);
  for (size_t i = 0; i < turns; ++i)
    EXPECT_NE(plans[2 * i].tailComesLast, plans[2 * i + 1].tailComesLast) << i;
  for (const FusedStackPlan &plan : plans)
    EXPECT_LE(plans.front().estimatedCycles, plan.estimatedCycles);
}

// Behind a head it is tried out in refinement alone.
TEST(FusedStackPlan, ATailBehindAHeadComesLastInRefinement) {
  FusedStackProblem p = block(3, 1);
  std::optional<FusedStackPlan> parted;
  for (const FusedStackPlan &plan : planFusedStack(p, machine(), 100)) {
    EXPECT_FALSE(plan.tailComesLast);
    if (plan.chunkChannels < inner)
      parted = plan;
  }
  ASSERT_TRUE(parted);
  const auto others = neighborsOf(p, machine(), *parted, Choice::TailComesLast);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_TRUE(others.front().tailComesLast);
  EXPECT_TRUE(neighborsOf(p, machine(), others.front(), Choice::ChunkChannels).empty() ||
              llvm::all_of(neighborsOf(p, machine(), others.front(), Choice::ChunkChannels),
                           [](const FusedStackPlan &each) {
                             return each.tailComesLast == (each.chunkChannels < inner);
                           }));
  p.headIsAdded = true; // all channels are on chip
  EXPECT_TRUE(neighborsOf(p, machine(), *parted, Choice::TailComesLast).empty());
}

TEST(FusedStackPlan, NeighborsOfTheLeastTileOfATailHaveChannels) {
  const FusedStackProblem p = block(3, 1);
  ConvMachine m = machine();
  m.cols = 1;
  FusedStackPlan plan = planFusedStack(p, m, 1).at(0);
  plan.tailChannels = 1;
  for (const FusedStackPlan &other : neighborsOf(p, m, plan, Choice::TailChannels))
    EXPECT_GE(other.tailChannels, 1);
}

// What a plan does not have is one, or as usual, however many there were before.
TEST(FusedStackPlan, BuffersThatAPlanDoesNotHaveAreAsUsual) {
  const FusedStackProblem p = block(3, 1);
  FusedStackPlan plan = planFusedStack(p, machine(), 1).at(0);
  plan.tileRows = size, plan.firstRows = 0, plan.cachedTiles = 1;
  plan.chunkChannels = inner;
  EXPECT_TRUE(isWhole(p, plan));
  for (Copies which : {Copies::Inputs, Copies::Between, Copies::WindowResults, Copies::Weights})
    EXPECT_FALSE(hasCopies(p, plan, which));
  for (Copies which : {Copies::HeadSums, Copies::TailSums, Copies::Results})
    EXPECT_TRUE(hasCopies(p, plan, which));
  plan.firstRows = 1;
  EXPECT_FALSE(isWhole(p, plan));
  for (Copies which : {Copies::Inputs, Copies::Between, Copies::WindowResults})
    EXPECT_TRUE(hasCopies(p, plan, which));
}

TEST_P(Blocks, PlansFitOnChipAndBeginAtFoldsAndColumnTiles) {
  const auto [kernel, stride] = GetParam();
  const FusedStackProblem p = block(kernel, stride);
  const ConvMachine m = machine();
  const std::vector<FusedStackPlan> plans = planFusedStack(p, m, 100);
  ASSERT_FALSE(plans.empty());
  for (const FusedStackPlan &plan : plans) {
    EXPECT_LE(plan.spadBytes, m.spadBytes);
    EXPECT_LE(plan.accBytes, m.accBytes);
    if (plan.chunkChannels != inner) {
      EXPECT_EQ(plan.chunkChannels % m.rows, 0);
      EXPECT_EQ(plan.chunkChannels % m.cols, 0);
    }
  }
}

TEST_P(Blocks, CheaperPlansComeFirst) {
  const auto [kernel, stride] = GetParam();
  const std::vector<FusedStackPlan> plans = planFusedStack(block(kernel, stride), machine(), 100);
  for (size_t i = 1; i < plans.size(); ++i)
    EXPECT_LE(plans[i - 1].estimatedCycles, plans[i].estimatedCycles);
}

INSTANTIATE_TEST_SUITE_P(FusedStackPlan, Blocks,
                         ::testing::Values(std::pair(3, 1), std::pair(3, 2), std::pair(5, 1),
                                           std::pair(5, 2), std::pair(7, 3)));

TEST(FusedStackPlan, SoManyUnitsHaveTheirWindowsOnTheArray) {
  FusedStackPlan plan{};
  for (plan.arrayUnits = 0; plan.arrayUnits <= arrayShares; ++plan.arrayUnits)
    for (int64_t first : {0, 3, 40}) {
      int64_t count = 0;
      for (int64_t unit = first; unit < first + arrayShares; ++unit)
        count += isOnArray(plan, unit);
      EXPECT_EQ(count, plan.arrayUnits);
    }
}

TEST(FusedStackPlan, APartOfTheRowsIsOnTheArray) {
  FusedStackPlan plan{};
  plan.arrayUnits = 3 * arrayShares / 8;
  auto rows = [&](ArrayPart part, int64_t unit) {
    plan.arrayPart = part;
    const Rows found = arrayRows(plan, unit, {10, 26});
    return std::make_pair(found.begin, found.end);
  };
  EXPECT_EQ(rows(ArrayPart::FirstRows, 0), std::make_pair(int64_t(10), int64_t(16)));
  EXPECT_EQ(rows(ArrayPart::LastRows, 0), std::make_pair(int64_t(20), int64_t(26)));
  for (int64_t unit = 0; unit < arrayShares; ++unit)
    EXPECT_EQ(rows(ArrayPart::Units, unit),
              std::make_pair(int64_t(10), int64_t(isOnArray(plan, unit) ? 26 : 10)));
}

TEST(FusedStackPlan, ThereAreSoManyOrders) {
  std::set<std::vector<size_t>> orders;
  for (int64_t number = 0; number < 24; ++number)
    orders.insert(permutation(number, 4));
  EXPECT_EQ(orders.size(), 24u);
  EXPECT_EQ(permutation(0, 4), (std::vector<size_t>{0, 1, 2, 3}));
  for (const std::vector<size_t> &order : orders)
    EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 4u);
}

// More buffers of a kind take more memory, unless they would never be used.
TEST(FusedStackPlan, BuffersTakeMemory) {
  const FusedStackProblem p = block(3, 1);
  FusedStackPlan plan = planFusedStack(p, machine(), 1).at(0);
  plan.chunkChannels = 16, plan.tileRows = 5, plan.arrayUnits = 3, plan.keepsWeights = false;
  plan.headMerge = TapMerge::None, plan.cachedTiles = 1;
  for (Copies which : {Copies::Inputs, Copies::Between, Copies::WindowResults, Copies::HeadSums,
                       Copies::WindowSums, Copies::Results, Copies::Weights}) {
    int64_t before = 0;
    for (int64_t count = 1; count <= mostCopies; ++count) {
      FusedStackPlan many = plan;
      many.copies[static_cast<size_t>(which)] = count;
      assess(p, machine(), many);
      EXPECT_GT(many.spadBytes + many.accBytes, before);
      before = many.spadBytes + many.accBytes;
    }
  }
  plan.tileRows = size, plan.copies[static_cast<size_t>(Copies::Inputs)] = 1;
  assess(p, machine(), plan);
  const int64_t one = plan.spadBytes;
  plan.copies[static_cast<size_t>(Copies::Inputs)] = 4;
  assess(p, machine(), plan);
  EXPECT_EQ(plan.spadBytes, one);
}

// A part of them: all would leave the vector unit, none the array with little to do.
TEST(FusedStackPlan, WindowsAreSharedWhereTheVectorUnitHasMostToDo) {
  const FusedStackProblem shared = block(5, 1);
  FusedStackProblem apart = shared;
  apart.mayReduceOnArray = false;
  const FusedStackPlan best = planFusedStack(shared, machine(), 1).at(0);
  EXPECT_GT(best.arrayUnits, 0);
  EXPECT_LT(best.arrayUnits, arrayShares);
  EXPECT_LT(best.estimatedCycles, planFusedStack(apart, machine(), 1).at(0).estimatedCycles);
}

namespace {

ConvMachine slidingMachine() {
  ConvMachine m = machine();
  m.window = WindowLimits{{1023, 255}, {15, 15}, {7, 7}, 255, m.rows};
  return m;
}

FusedStackProblem slidingBlock(const ConvMachine &m) {
  FusedStackProblem p = block(3, 1);
  p.window->multiplier = 1;
  p.sliding = slidingPasses(*p.window, m);
  return p;
}

} // namespace

TEST(FusedStackPlan, SlidingWindowsAreCheaperAndOthersAreTriedToo) {
  const ConvMachine m = slidingMachine();
  FusedStackProblem p = slidingBlock(m);
  ASSERT_TRUE(p.sliding);
  const std::vector<FusedStackPlan> plans = planFusedStack(p, m, 8);
  p.sliding.reset();
  const FusedStackPlan without = planFusedStack(p, m, 1).at(0);
  EXPECT_LT(plans.at(0).estimatedCycles, without.estimatedCycles);
  EXPECT_GT(plans.at(0).slidingParts, 0);
  auto is = [&](const FusedStackPlan &plan) {
    return plan.slidingParts == 0 && plan.tileRows == without.tileRows &&
           plan.arrayUnits == without.arrayUnits && plan.chunkChannels == without.chunkChannels;
  };
  EXPECT_TRUE(std::any_of(plans.begin(), plans.end(), is));
}

TEST(FusedStackPlan, TilesOfSlidingWindowsFitTheirPartOfTheAccumulators) {
  const ConvMachine m = slidingMachine();
  const FusedStackProblem p = slidingBlock(m);
  ASSERT_TRUE(p.sliding);
  FusedStackPlan plan{};
  for (int64_t rows : {1, 3, 8, 14, 28})
    for (plan.slidingParts = 5; plan.slidingParts <= 40; plan.slidingParts += 5) {
      const SlidingTile tile = slidingTile(p, m, plan, rows);
      EXPECT_GE(tile.rows, 1);
      EXPECT_LE(tile.rows, rows);
      EXPECT_TRUE(tile.columns == p.window->outputWidth || tile.columns % p.sliding->outputs == 0);
      EXPECT_LE(tile.rows * tile.columns * m.cols * 4 * plan.slidingParts, m.accBytes);
    }
}

TEST(FusedStackPlan, AHeadThatOthersReadIsMadeThroughout) {
  EXPECT_TRUE(makesAllRows(block(3, 1)));
  EXPECT_TRUE(makesAllRows(block(5, 2)));
  EXPECT_FALSE(makesAllRows(block(1, 2))); // rows that no tap touches
  FusedStackProblem above = block(3, 1);   // its taps end above the row of the result
  above.window->padTop = 3;
  EXPECT_FALSE(makesAllRows(above));
  FusedStackProblem cut = block(3, 1); // the last row is left out
  cut.window->padTop = 0, cut.window->outputHeight = cut.tail->height = size - 3;
  cut.tail->outputHeight = size - 3;
  EXPECT_FALSE(makesAllRows(cut));
}

TEST(FusedStackPlan, AllChannelsOfAHeadThatIsAddedAreOnChip) {
  FusedStackProblem p = block(3, 1);
  p.headIsAdded = true;
  const std::vector<FusedStackPlan> plans = planFusedStack(p, machine(), 8);
  ASSERT_FALSE(plans.empty());
  for (const FusedStackPlan &plan : plans) {
    EXPECT_EQ(plan.chunkChannels, inner);
    for (const FusedStackPlan &other : allNeighbors(p, machine(), plan))
      EXPECT_EQ(other.chunkChannels, inner);
  }
}

TEST(FusedStackPlan, AHeadThatIsStoredTakesTime) {
  FusedStackProblem p = block(3, 1);
  p.head->outputChannels = p.window->channels = p.window->inputChannels = p.tail->inputChannels =
      16;
  ConvMachine slow = machine();
  slow.dramBytesPerCycle = 0.125;
  FusedStackPlan plan = planFusedStack(p, slow, 1).front();
  const double before = plan.estimatedCycles;
  p.headIsStored = true;
  assess(p, slow, plan);
  EXPECT_GE(plan.estimatedCycles, before + static_cast<double>(size * size * 16) / 0.125);
}

// Operations on sums select parameters anew for each piece: short ones do not pay.
TEST(FusedStackPlan, SumsOfWindowsComeInTilesOfManyPixels) {
  FusedStackProblem p = block(3, 1);
  p.window->outputWidth = 7;
  EXPECT_EQ(lanesTileRows(p, 7, 16), 2); // a quarter
  p.windowHasSums = true;
  EXPECT_EQ(lanesTileRows(p, 7, 16), 7);
  EXPECT_EQ(lanesTileRows(p, 28, 16), 14);
  EXPECT_EQ(lanesTileRows(p, 3, 16), 3);
  EXPECT_EQ(lanesTileRows(p, 28, 96), 3); // what the accumulators have room for
}

// Beside a beat for each operation on 16 channels of a pixel: what each tile selects.
TEST(FusedStackPlan, OperationsAndSelectionsTakeTheVectorUnit) {
  ConvMachine slow = machine();
  slow.lanes = 1;
  FusedStackProblem p = block(3, 1);
  p.mayReduceOnArray = false;
  FusedStackPlan plan{};
  plan.tileRows = size, plan.chunkChannels = inner / 2, plan.headRows = plan.tailRows = 8;
  plan.tailChannels = 32, plan.keepsWeights = true, plan.laneRows = 8;
  auto cycles = [&] {
    assess(p, slow, plan);
    return plan.estimatedCycles;
  };
  const double before = cycles();
  p.headOperations = 3;
  const double passes = cycles();
  EXPECT_DOUBLE_EQ(passes, before + 2 * size * size * inner);
  constexpr int64_t tiles = 2 * 3; // two chunks, three tiles of up to 8 rows
  p.headSelectedBytes = 160 * static_cast<int64_t>(slow.spadPort);
  const double ofHead = cycles();
  EXPECT_DOUBLE_EQ(ofHead, passes + tiles * 160);
  p.windowSelectedBytes = 160 * static_cast<int64_t>(slow.spadPort);
  EXPECT_DOUBLE_EQ(cycles(), ofHead + tiles * 160);
}

TEST(FusedStackPlan, OnlyOneStripeOfOneImageIsWhole) {
  FusedStackProblem p = block(3, 1);
  FusedStackPlan plan{};
  plan.tileRows = size;
  EXPECT_TRUE(isWhole(p, plan));
  plan.tileRows = size - 1;
  EXPECT_FALSE(isWhole(p, plan));
  plan.tileRows = size;
  p.tail->batch = 2;
  EXPECT_FALSE(isWhole(p, plan));
}

// And one more for all of them, where there are several.
TEST(FusedStackPlan, EachStripeOfASumHasItsAccumulators) {
  FusedStackProblem p = summed(true), without = p;
  without.sum.reset();
  for (auto [rows, slots] : {std::pair<int64_t, int64_t>(size, 1), {12, 3}, {8, 4}, {1, size + 1}})
    for (int64_t images : {1, 2}) {
      p.window->batch = without.window->batch = images;
      FusedStackPlan plan = planFusedStack(without, machine(), 1).at(0);
      plan.cachedTiles = 1, plan.tileRows = rows;
      assess(without, machine(), plan);
      const int64_t before = plan.accBytes;
      assess(p, machine(), plan);
      EXPECT_EQ(plan.accBytes, before + slots * inner * 4) << rows;
    }
}

// However many rows an image has, the sums of its parts take the same accumulators.
TEST(FusedStackPlan, PartsOfATailComeAgain) {
  FusedStackProblem p = block(3, 1), without = p;
  p.sum = {false, 0, 0, 0};
  FusedStackPlan plan = planFusedStack(without, machine(), 1).at(0);
  plan.cachedTiles = 1;
  const int64_t channels = p.tail->outputChannels, most = machine().accBytes / 32 / 4 / channels;
  ASSERT_LT(most, size);
  for (auto [rows, slots] : {std::pair<int64_t, int64_t>(size, 1), {1, most}}) {
    plan.tileRows = plan.tailRows = rows;
    assess(without, machine(), plan);
    const int64_t before = plan.accBytes;
    assess(p, machine(), plan);
    EXPECT_EQ(plan.accBytes, before + slots * channels * 4) << rows;
  }
  EXPECT_EQ(describe(p, plan).rfind("fused stack of 4 layers", 0), 0u);
  EXPECT_FALSE(mayHandOn(p));
}

// Two parts of them are on chip, and not all.
TEST(FusedStackPlan, WindowsBeforeASumAreStoredByParts) {
  FusedStackProblem p = summed(true);
  p.window->channels = p.window->inputChannels = p.head->outputChannels = 512;
  FusedStackPlan plan = planFusedStack(p, machine(), 1).at(0);
  plan.cachedTiles = 1, plan.tileRows = size;
  for (auto [chunk, part] : {std::pair<int64_t, int64_t>(16, 128), {96, 192}, {512, 512}}) {
    plan.chunkChannels = chunk;
    EXPECT_EQ(resultPart(p, plan), part);
  }
  plan.chunkChannels = 16;
  assess(p, machine(), plan);
  const int64_t bytes = plan.spadBytes;
  p.sum.reset();
  EXPECT_EQ(resultPart(p, plan), 512);
  assess(p, machine(), plan);
  EXPECT_EQ(plan.spadBytes - bytes, size * size * (512 - 2 * 128) - 512); // and the sums
}

// So the array and the vector unit, which have a chunk each, read different buffers.
TEST(FusedStackPlan, ADepthwiseConvolutionByItselfMovesChunkByChunk) {
  FusedStackProblem p;
  p.window = depthwise(5, 1);
  p.window->channels = p.window->inputChannels = 512;
  p.windowIsDepthwise = p.mayReduceOnArray = true;
  FusedStackPlan plan = planFusedStack(p, machine(), 1).at(0);
  for (int64_t chunk : {64, 512}) {
    plan.chunkChannels = chunk;
    EXPECT_EQ(inputPart(p, plan), chunk);
    EXPECT_EQ(resultPart(p, plan), chunk);
  }
  p.head = pointwise(size, 24, 512);
  plan.chunkChannels = 64;
  EXPECT_EQ(resultPart(p, plan), 512);
}

TEST(FusedStackPlan, WindowsThatTheirSumAloneReadsAreNotMoved) {
  ConvMachine slow = machine();
  slow.dramBytesPerCycle = 0.125;
  const FusedStackProblem p = summed(false);
  FusedStackPlan plan = planFusedStack(p, slow, 1).at(0);
  const double before = plan.estimatedCycles;
  assess(summed(true), slow, plan);
  EXPECT_GE(plan.estimatedCycles, before + static_cast<double>(size * size * inner) / 0.125);
}

TEST(FusedStackPlan, ASumTakesTheVectorUnitAndIsNotHandedOn) {
  ConvMachine slow = machine();
  slow.lanes = 1;
  FusedStackProblem p = summed(true);
  p.mayReduceOnArray = false;
  EXPECT_FALSE(mayHandOn(p));
  FusedStackPlan plan = planFusedStack(p, slow, 1).at(0);
  const double before = plan.estimatedCycles;
  EXPECT_EQ(describe(p, plan).rfind("fused stack of 3 layers", 0), 0u);
  p.sum.reset();
  EXPECT_TRUE(mayHandOn(p));
  assess(p, slow, plan);
  EXPECT_GE(before, plan.estimatedCycles + size * size * inner);
}

TEST(FusedStackPlan, NothingFitsIntoAMemoryOfAFewRows) {
  ConvMachine m = machine();
  m.spadBytes = 2048;
  EXPECT_TRUE(planFusedStack(block(3, 1), m, 10).empty());
}

} // namespace tilewright
