// The search on a space of which the cost is known.
#include "plan_search.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace tilewright {

namespace {

// Six dimensions of `size` values each; a plan fits when its first two are not both large.
class Grid : public PlanSpace {
public:
  explicit Grid(int64_t size) : size_(size) {}
  size_t dimensions() const override { return 6; }
  std::vector<int64_t> choices(const PlanPoint &, size_t) const override {
    std::vector<int64_t> values;
    for (int64_t i = 1; i <= size_; ++i)
      values.push_back(i);
    return values;
  }
  bool fits(const PlanPoint &point) const override { return point[0] * point[1] <= 2 * size_; }
  std::vector<float> features(const PlanPoint &point) const override {
    return {point.begin(), point.end()};
  }
  double analyticCycles(const PlanPoint &) const override { return 0; }

private:
  int64_t size_;
};

// A valley of 1000 cycles around 11, 2, 7, 5, 9, 4.
int64_t valley(const PlanPoint &point) {
  const int64_t bottom[] = {11, 2, 7, 5, 9, 4};
  int64_t cycles = 1000;
  for (size_t d = 0; d < 6; ++d)
    cycles += 40 * std::abs(point[d] - bottom[d]) * (d % 2 == 0 ? 1 : 3);
  return cycles;
}

std::vector<std::optional<int64_t>> measureAll(const std::vector<PlanPoint> &points) {
  std::vector<std::optional<int64_t>> cycles;
  for (const PlanPoint &point : points)
    cycles.push_back(valley(point));
  return cycles;
}

const PlanPoint planned = {1, 1, 1, 1, 1, 1};

std::vector<MeasuredPlan> found(SearchKind kind, uint64_t seed, int64_t trials = 150,
                                const Measure &measure = measureAll) {
  const Grid grid(12);
  return searchPlans({grid, planned, {{2, 2, 2, 2, 2, 2}}, trials, seed, kind}, measure, {});
}

bool isSame(const std::vector<MeasuredPlan> &a, const std::vector<MeasuredPlan> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) {
    return x.point == y.point && x.cycles == y.cycles;
  });
}

} // namespace

TEST(PlanSearch, ModelFindsBetterPlansThanChance) {
  for (uint64_t seed : {1, 2, 3}) {
    const int64_t model = bestOf(found(SearchKind::Model, seed)).cycles,
                  random = bestOf(found(SearchKind::Random, seed)).cycles;
    EXPECT_LT(model, 1150);
    EXPECT_LT(model, random);
  }
}

TEST(PlanSearch, BeginsWithThePlannersPlanAndNeverRepeatsOne) {
  for (SearchKind kind : {SearchKind::Model, SearchKind::Random}) {
    const std::vector<MeasuredPlan> measured = found(kind, 7);
    ASSERT_EQ(measured.size(), 150u);
    EXPECT_EQ(measured.front().point, planned);
    std::set<PlanPoint> points;
    for (const MeasuredPlan &each : measured)
      points.insert(each.point);
    EXPECT_EQ(points.size(), measured.size());
    // Good guesses come next, to a search that may take them.
    EXPECT_EQ(measured[1].point == PlanPoint({2, 2, 2, 2, 2, 2}), kind == SearchKind::Model);
  }
}

TEST(PlanSearch, TheSeedDecides) {
  for (SearchKind kind : {SearchKind::Model, SearchKind::Random}) {
    EXPECT_TRUE(isSame(found(kind, 3), found(kind, 3)));
    EXPECT_FALSE(isSame(found(kind, 3), found(kind, 4)));
  }
}

TEST(PlanSearch, OneTrialIsThePlannersPlan) {
  EXPECT_EQ(found(SearchKind::Model, 1, 1).size(), 1u);
  EXPECT_EQ(found(SearchKind::Model, 1, 2).size(), 2u);
}

TEST(PlanSearch, WhatDoesNotFitIsNoTrial) {
  size_t tried = 0;
  auto measure = [&](const std::vector<PlanPoint> &points) {
    std::vector<std::optional<int64_t>> cycles = measureAll(points);
    for (size_t i = 0; i < points.size(); ++i) {
      ++tried;
      if (points[i][4] > 6)
        cycles[i] = std::nullopt;
    }
    return cycles;
  };
  const std::vector<MeasuredPlan> measured = found(SearchKind::Model, 1, 60, measure);
  EXPECT_EQ(measured.size(), 60u);
  EXPECT_GT(tried, 60u);
  for (const MeasuredPlan &each : measured)
    EXPECT_LE(each.point[4], 6);
}

TEST(PlanSearch, EndsWhereNothingFits) {
  auto first = [](const std::vector<PlanPoint> &points) {
    std::vector<std::optional<int64_t>> cycles(points.size());
    if (points.front() == planned)
      cycles.front() = 5;
    return cycles;
  };
  EXPECT_EQ(found(SearchKind::Model, 1, 20, first).size(), 1u);
  auto none = [](const std::vector<PlanPoint> &points) {
    return std::vector<std::optional<int64_t>>(points.size());
  };
  EXPECT_TRUE(found(SearchKind::Model, 1, 20, none).empty());
}

TEST(PlanSearch, ASmallSpaceIsMeasuredWhole) {
  const Grid grid(2); // 2 x 2 <= 4: everything fits
  const std::vector<MeasuredPlan> measured =
      searchPlans({grid, planned, {}, 1000, 1, SearchKind::Model}, measureAll, {});
  EXPECT_EQ(measured.size(), 64u);
}

TEST(PlanSearch, TellsHowFarItIs) {
  const Grid grid(12);
  std::vector<int64_t> trials;
  searchPlans({grid, planned, {}, 40, 1, SearchKind::Random}, measureAll,
              [&](int64_t trial) { trials.push_back(trial); });
  EXPECT_EQ(trials, (std::vector<int64_t>{1, 9, 17, 25, 33, 40}));
}

} // namespace tilewright
