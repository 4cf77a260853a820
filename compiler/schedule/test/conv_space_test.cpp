// The space of a convolution's plans: what the planner gives is in it, what is drawn is legal, and
// a small space is what the rules say, point by point.
#include "tilewright/compiler/schedule/conv_space.h"

#include "tilewright/compiler/schedule/weight_stream_plan.h"

#include "plan_cases.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace tilewright {

namespace {

ConvProblem problem(int64_t height, int64_t width, int64_t inputs, int64_t outputs, int64_t kernel,
                    int64_t stride = 1) {
  ConvProblem p{};
  p.batch = 1;
  p.outputHeight = height, p.outputWidth = width;
  p.height = height * stride, p.width = width * stride;
  p.inputChannels = inputs;
  p.outputChannels = outputs;
  p.kernelHeight = p.kernelWidth = kernel;
  p.strideY = p.strideX = stride;
  p.dilationY = p.dilationX = 1;
  p.padTop = p.padLeft = kernel / 2;
  p.residentBytes = 12 * outputs;
  return p;
}

std::vector<ConvProblem> problems() {
  std::vector<ConvProblem> all = {problem(56, 56, 64, 64, 3),    problem(112, 112, 3, 64, 7, 2),
                                  problem(7, 7, 512, 2048, 1),   problem(28, 28, 256, 512, 1, 2),
                                  problem(1, 1, 2048, 1000, 1),  problem(1, 197, 64, 197, 1),
                                  problem(13, 31, 40, 24, 5),    problem(224, 224, 64, 64, 3),
                                  problem(1, 1, 25088, 4096, 1), problem(5, 1, 7, 3, 1)};
  all[5].weightsAreActivations = true, all[5].batch = 12;
  all[3].spadBytesPerElement = 2;
  all[6].resultInAccumulators = true, all[6].accBytesPerElement = 4, all[6].resultBytes = 4;
  return all;
}

// All points, one dimension after the other.
void enumerate(const ConvSpace &space, PlanPoint &point, size_t d, std::set<PlanPoint> &all) {
  if (d == space.dimensions()) {
    if (space.fits(point))
      all.insert(point);
    return;
  }
  for (int64_t value : space.choices(point, d)) {
    point[d] = value;
    enumerate(space, point, d + 1, all);
  }
}

std::set<PlanPoint> allOf(const ConvSpace &space) {
  std::set<PlanPoint> all;
  PlanPoint point(space.dimensions(), 0);
  enumerate(space, point, 0, all);
  return all;
}

} // namespace

TEST(ConvSpace, HoldsThePlannersPlans) {
  size_t count = 0;
  for (const ConvMachine &m : {machine(), machine(65536, 16384)})
    for (const ConvProblem &p : problems()) {
      const ConvSpace space(p, m);
      int64_t smallest = 0;
      const std::vector<ConvPlan> plans = planConvolution(p, m, 8, &smallest);
      count += plans.size();
      for (const ConvPlan &plan : plans) {
        const PlanPoint point = space.point(plan);
        EXPECT_TRUE(isLegal(space, point)) << describe(p, plan);
        EXPECT_EQ(space.point(space.plan(point)), point);
      }
    }
  EXPECT_GT(count, 100u);
}

TEST(ConvSpace, HoldsPlansThatBeginWithSeveralTiles) {
  const ConvProblem p = problem(14, 14, 256, 256, 1);
  const ConvSpace space(p, machine());
  ConvPlan plan{};
  plan.stepHeight = plan.tileHeight = 7;
  plan.stepWidth = plan.tileWidth = 14;
  plan.stepChannels = plan.tileChannels = 64;
  plan.weightParts = 8;
  plan.inputParts = 4;
  for (int64_t tiles : {1, 2, 3}) // two of 98 x 64 sums fit
    for (int64_t parts : {2, 8}) {
      plan.firstTiles = tiles;
      plan.weightParts = parts;
      const PlanPoint point = space.point(plan);
      EXPECT_EQ(isLegal(space, point), tiles == 1 || (tiles == 2 && parts == 8)) << tiles << parts;
      EXPECT_EQ(space.plan(point).firstTiles, tiles);
    }
}

TEST(ConvSpace, HoldsPlansWhoseTilesAreStoredApart) {
  ConvProblem p = problem(1, 64, 64, 256, 1);
  p.resultInAccumulators = true;
  p.resultBytes = 4;
  const ConvSpace space(p, machine());
  ConvPlan plan{};
  plan.stepHeight = plan.tileHeight = 1;
  plan.stepWidth = plan.tileWidth = 32;
  plan.stepChannels = 256;
  plan.tileChannels = 64;
  plan.weightParts = 1;
  for (int64_t together : {0, 1, 2, 3}) { // 0: as many as there are; a bank holds four
    plan.tilesTogether = together;
    const PlanPoint point = space.point(plan);
    EXPECT_TRUE(isLegal(space, point)) << together;
    EXPECT_EQ(space.plan(point).tilesTogether, together);
  }
}

TEST(ConvSpace, GivesBuffersTheRoomThatThereIs) {
  const ConvSpace space(problem(56, 56, 64, 64, 3), machine());
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const ConvPlan plan = space.plan(*randomPoint(space, random));
    EXPECT_LE(plan.spadBytes - plan.gapBytes, machine().spadBytes);
    EXPECT_LE(plan.accBytes, machine().accBytes);
  }
}

TEST(ConvSpace, WhatIsDrawnIsLegal) {
  for (const ConvProblem &p : problems()) {
    const ConvSpace space(p, machine());
    drawLegalPoints(space, [](const PlanPoint &) {});
  }
}

TEST(ConvSpace, APlanOfAnotherShapeIsTakenOver) {
  const ConvSpace from(problem(56, 56, 64, 256, 3), machine()),
      to(problem(28, 28, 128, 96, 1), machine());
  Random random(2);
  int taken = 0;
  for (int i = 0; i < 100; ++i)
    if (const auto point = snapped(to, *randomPoint(from, random))) {
      EXPECT_TRUE(isLegal(to, *point));
      ++taken;
    }
  EXPECT_GT(taken, 50);
  EXPECT_FALSE(snapped(to, {1, 2, 3})); // of another kind
}

// The rules once more, tuple by tuple.
TEST(ConvSpace, IsWhatTheRulesSay) {
  const ConvProblem p = problem(3, 2, 24, 40, 3);
  const ConvMachine m = machine(8192, 1024);
  const ConvSpace space(p, m);
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  auto isMultiple = [](int64_t size, int64_t part, int64_t whole) {
    return size == whole || (size < whole && size % part == 0);
  };
  std::set<PlanPoint> expected;
  for (int64_t th = 1; th <= 3; ++th)
    for (int64_t tw = 1; tw <= 2; ++tw)
      for (int64_t tc : {16, 32, 40})
        for (int64_t sh = th; sh <= 3; ++sh)
          for (int64_t sw = tw; sw <= 2; ++sw)
            for (int64_t sc = tc; sc <= 40; ++sc)
              for (int64_t first = 1; first <= sh; ++first)
                for (int64_t flags = 0; flags < 48; ++flags)
                  for (int64_t parts = 1; parts <= 18; ++parts) {
                    const int64_t resident = flags % 4, turns = flags / 4 % 2,
                                  merged = flags / 8 % 3, depth = 1 + flags / 24;
                    // 9 x 24 / 16, 3 x 72 / 16, 216 / 16; 9 x 16 / 16 of each part of the depth
                    const int64_t folds = depth > 1     ? 9
                                          : merged == 0 ? 18
                                          : merged == 1 ? 15
                                                        : 14,
                                  each = parts / depth;
                    const bool oneTile = th == sh && tw == sw && tc == sc;
                    const bool oneChunk = sc == 40, onePlace = first == 3 && sw == 2;
                    if (!isMultiple(sc, tc, 40) || th * tw * tc * 4 > m.accBytes ||
                        ((resident || turns) && (oneChunk || onePlace)) ||
                        resident > ceilDiv(40, sc) || (parts > 1 && (!oneTile || resident > 1)) ||
                        (depth > 1 && (!oneTile || resident > 0 || merged > 0)) || each < 1 ||
                        each > folds || parts != depth * ceilDiv(folds, ceilDiv(folds, each)))
                      continue;
                    // One copy of each buffer, two of the result's and of gathered windows, all of
                    // resident weights.
                    const int64_t input = (sh + 2) * (sw + 2) * (depth > 1 ? 16 : 24),
                                  weights =
                                      std::min(216 * sc, ceilDiv(depth * folds, parts) * 16 * sc),
                                  windows = merged == 2 ? th * (tw + 2) * 3 * 24 : 0;
                    if (input + weights * std::max<int64_t>(resident, 1) +
                            2 * (th * tw * sc + windows) + p.residentBytes <=
                        m.spadBytes)
                      expected.insert({0, th, tw, tc, sh, sw, sc, first, resident, turns, merged, 1,
                                       depth, parts, 1, 1});
                  }
  const std::set<PlanPoint> all = allOf(space);
  EXPECT_GT(all.size(), 100u);
  EXPECT_EQ(all, expected);
  for (const PlanPoint &point : all)
    EXPECT_TRUE(isLegal(space, point));
  // Chance reaches every one of them, and nothing else.
  Random random(3);
  std::set<PlanPoint> drawn;
  for (int i = 0; i < 2'000'000 && drawn.size() < all.size(); ++i)
    drawn.insert(*randomPoint(space, random));
  EXPECT_EQ(drawn, all);
}

// Tiles of a stream begin where blocks of parameters do.
TEST(ConvSpace, AProductOfOnePixelMayStreamItsWeights) {
  const ConvProblem p = problem(1, 1, 100, 200, 1);
  const ConvMachine m = machine(8192, 1024); // 128 sums in a bank
  const ConvSpace space(p, m);
  std::set<std::pair<int64_t, int64_t>> streams, expected;
  for (const PlanPoint &point : allOf(space))
    if (point[ConvSpace::StreamFolds] > 0) {
      const ConvPlan plan = space.plan(point);
      EXPECT_EQ(space.point(plan), point);
      EXPECT_LE(plan.spadBytes - plan.gapBytes, m.spadBytes);
      streams.insert({plan.streamFolds, plan.tileChannels});
    }
  for (int64_t folds = 1; folds <= 7; ++folds)
    for (int64_t channels = 1; channels <= 128; ++channels)
      if ((channels <= 64 || channels == 128) &&
          100 + 2 * folds * 16 * channels + p.residentBytes + 2 * channels <= m.spadBytes)
        expected.insert({folds, channels});
  EXPECT_EQ(streams, expected);
  for (const ConvPlan &plan : planWeightStream(p, machine()))
    EXPECT_TRUE(isLegal(ConvSpace(p, machine()), ConvSpace(p, machine()).point(plan)));
  EXPECT_EQ(
      ConvSpace(problem(1, 2, 100, 200, 1), m).choices(PlanPoint(space.dimensions(), 0), 0).size(),
      1u);
}

TEST(ConvSpace, RefusesWhatIsNoPlan) {
  const ConvSpace space(problem(56, 56, 64, 64, 3), machine());
  const PlanPoint good = {0, 28, 28, 16, 56, 28, 64, 28, 0, 0, 0, 2, 1, 1, 1, 1};
  EXPECT_TRUE(isLegal(space, good));
  EXPECT_FALSE(isLegal(space, {}));
  for (size_t d = 0; d < good.size(); ++d)
    for (int64_t value : {int64_t(-1), int64_t(57), int64_t(1) << 60}) {
      PlanPoint bad = good;
      bad[d] = value;
      EXPECT_FALSE(isLegal(space, bad)) << d << ' ' << value;
    }
}

TEST(ConvSpace, TellsPlansOfAllShapesByTheSameFeatures) {
  std::set<size_t> counts;
  for (const ConvProblem &p : problems()) {
    const ConvSpace space(p, machine());
    Random random(4);
    const std::vector<float> features = space.features(*randomPoint(space, random));
    EXPECT_TRUE(std::all_of(features.begin(), features.end(),
                            [](float value) { return std::isfinite(value); }));
    counts.insert(features.size());
  }
  EXPECT_EQ(counts.size(), 1u);
}

} // namespace tilewright
