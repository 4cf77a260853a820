// The space of a chain's plans: what the planner gives is in it, what is drawn is legal.
#include "tilewright/compiler/schedule/fused_stack_space.h"

#include "chain_cases.h"
#include "plan_cases.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

ConvMachine machine(const char *target) {
  isa::LoadOptions options;
  options.target = target;
  return ConvMachine::of(isa::load(options));
}

ConvProblem convolution(int64_t side, int64_t from, int64_t to, int64_t kernel, int64_t stride) {
  ConvProblem p{};
  p.batch = 1, p.height = p.width = side * stride, p.outputHeight = p.outputWidth = side;
  p.inputChannels = from, p.outputChannels = to;
  p.kernelHeight = p.kernelWidth = kernel, p.strideY = p.strideX = stride;
  p.dilationY = p.dilationX = 1;
  p.padTop = p.padLeft = kernel / 2;
  p.residentBytes = 12 * to;
  return p;
}

WindowProblem window(int64_t side, int64_t channels, int64_t stride) {
  WindowProblem w{};
  w.batch = 1, w.height = w.width = side * stride, w.outputHeight = w.outputWidth = side;
  w.channels = w.inputChannels = channels, w.multiplier = 1;
  w.kernelHeight = w.kernelWidth = 3, w.strideY = w.strideX = stride;
  w.padTop = w.padLeft = 1;
  return w;
}

std::vector<FusedStackProblem> problems() {
  std::vector<FusedStackProblem> all(4);
  all[0].head = convolution(28, 32, 192, 1, 1);
  all[0].window = window(14, 192, 2);
  all[0].tail = convolution(14, 192, 64, 1, 1);
  all[1].window = window(56, 64, 1);
  all[1].tail = convolution(56, 64, 128, 1, 1);
  all[2].head = convolution(96, 3, 64, 7, 2);
  all[2].window = window(48, 64, 2);
  all[3].head = convolution(56, 16, 16, 3, 1);
  all[3].tail = convolution(56, 16, 128, 1, 1);
  for (FusedStackProblem &p : all)
    p.windowIsDepthwise = p.mayReduceOnArray = p.window && p.tail;
  return all;
}

} // namespace

TEST(FusedStackSpace, HoldsThePlannersPlans) {
  size_t count = 0;
  for (const char *target : {"edge16", "odd12x20"})
    for (const FusedStackProblem &p : problems()) {
      const ConvMachine m = machine(target);
      const FusedStackSpace space(p, m);
      for (const FusedStackPlan &plan : planFusedStack(p, m, 8)) {
        const PlanPoint point = space.point(plan);
        EXPECT_TRUE(isLegal(space, point)) << describe(p, plan);
        EXPECT_EQ(space.point(space.plan(point)), point);
        EXPECT_EQ(space.analyticCycles(point), plan.estimatedCycles);
        for (const FusedStackPlan &neighbor : allNeighbors(p, m, plan))
          EXPECT_TRUE(isLegal(space, space.point(neighbor))) << describe(p, neighbor);
        ++count;
      }
    }
  EXPECT_GT(count, 40u);
}

TEST(FusedStackSpace, WhatIsDrawnIsLegal) {
  for (const FusedStackProblem &p : problems()) {
    const ConvMachine m = machine("edge16");
    const FusedStackSpace space(p, m);
    drawLegalPoints(space, [&](const PlanPoint &point) {
      const FusedStackPlan plan = space.plan(point);
      EXPECT_LE(plan.spadBytes, m.spadBytes);
      EXPECT_LE(plan.accBytes, m.accBytes);
      for (float feature : space.features(point))
        EXPECT_TRUE(std::isfinite(feature));
    });
  }
}

TEST(FusedStackSpace, ArraysHaveAPartOfTheWindowsOfDepthwiseConvolutionsAlone) {
  for (const FusedStackProblem &p : problems()) {
    const FusedStackSpace space(p, machine("edge16"));
    Random random(3);
    int64_t most = 0;
    for (int i = 0; i < 50; ++i)
      most = std::max(most, (*randomPoint(space, random))[FusedStackSpace::ArrayUnits]);
    EXPECT_EQ(most > 0, p.mayReduceOnArray);
  }
}

// Stripes of any height, the first of any that is no higher.
TEST(FusedStackSpace, EverySizeIsAChoice) {
  const FusedStackSpace space(problems()[0], machine("edge16"));
  PlanPoint point(FusedStackSpace::DimensionCount, 0);
  EXPECT_EQ(space.choices(point, FusedStackSpace::TileRows).size(), 14u);
  point[FusedStackSpace::TileRows] = 9;
  EXPECT_EQ(space.choices(point, FusedStackSpace::FirstRows).size(), 9u);
  EXPECT_EQ(space.choices(point, FusedStackSpace::ChunkChannels),
            (std::vector<int64_t>{16, 32, 48, 64, 128, 192}));
  point[FusedStackSpace::ChunkChannels] = 48; // of which a tile begins where a chunk may
  EXPECT_EQ(space.choices(point, FusedStackSpace::HeadChannels), (std::vector<int64_t>{16, 48}));
}

// Where an instruction slides windows, accumulators say how high its tiles are, and diagonals are
// no point.
TEST(FusedStackSpace, AllChannelsOfAHeadThatIsAddedAreOnChip) {
  FusedStackProblem p = problems()[0];
  const size_t dimension = 2; // channels that are made at once
  auto choices = [&] {
    const FusedStackSpace space(p, machine("edge16"));
    return space.choices(space.point(planFusedStack(p, machine("edge16"), 1).front()), dimension);
  };
  EXPECT_GT(choices().size(), 1u);
  p.headIsAdded = true;
  EXPECT_EQ(choices(), std::vector<int64_t>{192});
}

TEST(FusedStackSpace, TilesOfSlidingWindowsAreNoChoice) {
  ConvMachine m = machine("edge16");
  m.window = WindowLimits{{1023, 255}, {15, 15}, {7, 7}, 255, m.rows};
  FusedStackProblem p = problems()[0];
  p.sliding = slidingPasses(*p.window, m);
  ASSERT_TRUE(p.sliding);
  const FusedStackSpace space(p, m);
  size_t count = 0;
  for (FusedStackPlan plan : planFusedStack(p, m, 8)) {
    const PlanPoint point = space.point(plan);
    EXPECT_EQ(point[FusedStackSpace::WindowRows], 0);
    count += plan.slidingParts > 0;
    if (plan.slidingParts > 0 || plan.arrayUnits == 0) {
      EXPECT_TRUE(isLegal(space, point)) << describe(p, plan);
      EXPECT_EQ(space.analyticCycles(point), plan.estimatedCycles);
    }
    EXPECT_EQ(space.point(space.plan(point)), point);
    plan.slidingParts = 0;
    EXPECT_EQ(space.point(plan), point);
  }
  EXPECT_GT(count, 0u);
  drawLegalPoints(space, [&](const PlanPoint &point) {
    EXPECT_EQ(space.plan(point).slidingParts > 0, point[FusedStackSpace::ArrayUnits] > 0);
    EXPECT_EQ(space.plan(point).windowRows, 0);
  });
}

// One stripe of one chunk has nothing that would be replaced.
TEST(FusedStackSpace, BuffersThatAPlanDoesNotHaveAreAsManyAsUsual) {
  const FusedStackSpace space(problems()[0], machine("edge16"));
  PlanPoint point(FusedStackSpace::DimensionCount, 0);
  point[FusedStackSpace::TileRows] = point[FusedStackSpace::FirstRows] = 14;
  point[FusedStackSpace::ChunkChannels] = 192;
  auto choices = [&](Copies which) {
    return space.choices(point, FusedStackSpace::FirstCopies + static_cast<size_t>(which)).size();
  };
  for (Copies which : {Copies::Inputs, Copies::Windows, Copies::Between, Copies::WindowResults,
                       Copies::WindowSums, Copies::Weights})
    EXPECT_EQ(choices(which), 1u);
  for (Copies which : {Copies::HeadSums, Copies::TailSums, Copies::Results})
    EXPECT_EQ(choices(which), 4u);
  point[FusedStackSpace::ChunkChannels] = 64;
  for (Copies which : {Copies::Between, Copies::WindowResults, Copies::Weights})
    EXPECT_EQ(choices(which), 4u);
  EXPECT_EQ(choices(Copies::TailSums), 1u); // they stay until the last chunk
  point[FusedStackSpace::CachedTiles] = 2;  // keep their rows
  EXPECT_EQ(choices(Copies::Between), 1u);
  point[FusedStackSpace::ArrayUnits] = 2;
  EXPECT_EQ(choices(Copies::WindowSums), 4u);
}

// Of three streams of the array two change places, or all; of the vector unit's five as many as
// there are.
TEST(FusedStackSpace, OrdersAreThoseOfTheStreamsThatThereAre) {
  const FusedStackSpace space(problems()[0], machine("edge16"));
  PlanPoint point(FusedStackSpace::DimensionCount, 0);
  EXPECT_EQ(space.choices(point, FusedStackSpace::MatrixOrder).size(), 2u);
  EXPECT_EQ(space.choices(point, FusedStackSpace::VectorOrder).size(), 6u);
  point[FusedStackSpace::ArrayUnits] = 2;
  EXPECT_EQ(space.choices(point, FusedStackSpace::MatrixOrder).size(), 6u);
  EXPECT_EQ(space.choices(point, FusedStackSpace::VectorOrder).size(), 24u);
}

TEST(FusedStackSpace, LayersThatAreNotThereHaveOneChoice) {
  const FusedStackSpace space(problems()[2], machine("edge16"));
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const PlanPoint point = *randomPoint(space, random);
    EXPECT_EQ(point[FusedStackSpace::TailRows], 0);
    EXPECT_EQ(point[FusedStackSpace::TailChannels], 0);
    EXPECT_GT(point[FusedStackSpace::HeadRows], 0);
  }
}

} // namespace tilewright
