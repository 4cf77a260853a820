#include "tilewright/compiler/schedule/common_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::ElementsAre;

KernelRanks elementwise(Extents space, std::vector<KernelRanks::Operand> operands) {
  KernelRanks kernel;
  kernel.space = std::move(space);
  kernel.operands = std::move(operands);
  return kernel;
}

KernelRanks reduction(Extents space, int axis, bool isInternal = true) {
  KernelRanks kernel = elementwise(space, {{space, isInternal}});
  kernel.own = axis;
  return kernel;
}

TEST(CommonRanks, AreAllOfAnElementwiseKernelAsOneLoop) {
  const auto ranks = commonRanks(elementwise({2, 3, 5}, {{{2, 3, 5}}, {{1, 1, 1}}}));
  ASSERT_TRUE(ranks);
  EXPECT_THAT(ranks->outer, ElementsAre(30));
  EXPECT_EQ(ranks->last, 0);
}

TEST(CommonRanks, AreDividedWhereAnOperandHasSomeOfThem) {
  const auto ranks = commonRanks(elementwise({2, 3, 5, 7}, {{{2, 3, 5, 7}}, {{1, 3, 5, 1}}}));
  ASSERT_TRUE(ranks);
  EXPECT_THAT(ranks->outer, ElementsAre(2, 15, 7));
}

TEST(CommonRanks, KeepALastRankThatHasParameters) {
  KernelRanks kernel = elementwise({2, 3, 5}, {{{2, 3, 5}}});
  kernel.keepsLast = true;
  const auto ranks = commonRanks(kernel);
  ASSERT_TRUE(ranks);
  EXPECT_THAT(ranks->outer, ElementsAre(6, 5));
}

// A softmax: the maximum of rows is handed back to what it was made of.
TEST(CommonRanks, AreTheRowsOfWhatReducesThem) {
  const std::vector<KernelRanks> kernels = {
      elementwise({1, 12, 128, 64}, {{{1, 12, 128, 64}}, {{1, 1, 1, 64}}}),
      reduction({1, 12, 128, 64}, 3),
      elementwise({1, 12, 128, 64}, {{{1, 12, 128, 64}, true}, {{1, 12, 128, 1}, true}})};
  const auto ranks = commonRanks(kernels);
  ASSERT_TRUE(ranks);
  EXPECT_THAT(ranks->outer, ElementsAre(12 * 128));
  EXPECT_THAT(underRanks(*ranks, kernels[0].space, {1, 1, 1, 64}), ElementsAre(1, 64));
  EXPECT_THAT(underRanks(*ranks, kernels[2].space, {1, 12, 128, 1}), ElementsAre(1536, 1));
}

TEST(CommonRanks, HoldUnderAnotherShapeOfTheSameElements) {
  const auto ranks = commonRanks(
      {reduction({12, 128, 64}, 2), elementwise({1, 12, 128, 1}, {{{1, 12, 128, 1}, true}}),
       elementwise({1, 12, 128, 64}, {{{1, 12, 128, 1}, true}, {{1, 12, 1, 64}}})});
  ASSERT_TRUE(ranks);
  EXPECT_THAT(ranks->outer, ElementsAre(12, 128)); // the last operand has the heads alone
}

TEST(CommonRanks, AreTheColumnsOfWhatReducesAMiddleAxis) {
  const std::vector<KernelRanks> kernels = {
      reduction({4, 49, 30}, 1), elementwise({4, 1, 30}, {{{4, 1, 30}, true}}),
      elementwise({4, 49, 30}, {{{4, 49, 30}}, {{4, 1, 30}, true}})};
  const auto ranks = commonRanks(kernels);
  ASSERT_TRUE(ranks);
  EXPECT_THAT(ranks->outer, ElementsAre(4));
  EXPECT_EQ(ranks->last, 30);
  EXPECT_EQ(ranks->elements(), 120);
  EXPECT_THAT(underRanks(*ranks, kernels[2].space, {4, 1, 30}), ElementsAre(4, 1, 30));
}

TEST(CommonRanks, AreNoneOfReductionsWithDifferentColumns) {
  EXPECT_FALSE(commonRanks({reduction({4, 6, 30}, 1), reduction({4, 30, 6}, 1)}));
}

TEST(CommonRanks, AreNoneWhereShapesDivideTheElementsOtherwise) {
  EXPECT_FALSE(commonRanks({elementwise({4, 9}, {{{4, 9}}, {{4, 1}}}),
                            elementwise({6, 6}, {{{6, 6}, true}, {{6, 1}}})}));
}

// Channels that have parameters cannot be divided for another kernel's operand.
TEST(CommonRanks, AreNoneWhereParametersNeedARankThatIsDivided) {
  KernelRanks byChannel = elementwise({1, 273}, {{{1, 273}, true}});
  byChannel.keepsLast = true;
  EXPECT_FALSE(commonRanks({elementwise({3, 91}, {{{3, 91}}, {{3, 1}}}), byChannel}));
}

TEST(CommonRanks, MergeNeighborsThatAllOperandsHaveOrRepeatAlike) {
  std::vector<Extents> shapes = {{8, 1, 1, 5}, {8, 2, 3, 5}, {8, 2, 3, 5}};
  mergeNeighbors(shapes, 1, 4);
  EXPECT_THAT(shapes[0], ElementsAre(8, 1, 5));
  EXPECT_THAT(shapes[2], ElementsAre(8, 6, 5));
}

} // namespace
} // namespace tilewright
