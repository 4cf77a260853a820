// ctest -R Statistics: Pareto ranks against their definition, and Spearman's correlation against
// known ones.
#include "tilewright/explore/statistics.h"

#include <gmock/gmock.h>

namespace tilewright::explore {

using ::testing::ElementsAre;

namespace {

TEST(Statistics, FrontHasWhatNothingDominates) {
  EXPECT_THAT(paretoRanks({{1, 5}, {2, 2}, {5, 1}, {3, 3}, {4, 4}, {2, 2}}),
              ElementsAre(0, 0, 0, 1, 2, 0));
}

TEST(Statistics, OneColumnRanksByValue) {
  EXPECT_THAT(paretoRanks({{3}, {1}, {2}, {1}}), ElementsAre(2, 0, 1, 0));
}

TEST(Statistics, EqualInOneAndWorseInAnotherIsBeaten) {
  EXPECT_THAT(paretoRanks({{1, 2, 3}, {1, 2, 4}, {1, 1, 9}}), ElementsAre(0, 1, 0));
}

TEST(Statistics, NoRowsHaveNoRanks) { EXPECT_TRUE(paretoRanks({}).empty()); }

TEST(Statistics, CorrelatesRanks) {
  EXPECT_DOUBLE_EQ(*rankCorrelation({1, 2, 3, 4}, {10, 200, 3000, 40000}), 1);
  EXPECT_DOUBLE_EQ(*rankCorrelation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // 1 - 6 * (1 + 1 + 0 + 1 + 1) / (5 * 24)
  EXPECT_DOUBLE_EQ(*rankCorrelation({1, 2, 3, 4, 5}, {2, 1, 3, 5, 4}), 0.8);
}

TEST(Statistics, TiesHaveTheirMeanRank) {
  // Ranks 1.5 1.5 3 and 1 2 3: 1.5 / sqrt(1.5 * 2)
  EXPECT_NEAR(*rankCorrelation({7, 7, 9}, {1, 2, 3}), 0.8660254, 1e-7);
}

TEST(Statistics, NothingToCorrelate) {
  EXPECT_EQ(rankCorrelation({1}, {1}), std::nullopt);
  EXPECT_EQ(rankCorrelation({}, {}), std::nullopt);
  EXPECT_EQ(rankCorrelation({1, 2, 3}, {5, 5, 5}), std::nullopt);
}

} // namespace

} // namespace tilewright::explore
