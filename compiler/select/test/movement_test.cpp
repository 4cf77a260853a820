// Operators that move elements, told by where the elements of a constant end up; what does not fold
// has the same regions.
#include "run_passes.h"

#include "tilewright/compiler/select/kernel_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>

namespace tilewright {
namespace {

using testing::HasSubstr;

// What becomes of `operators` on the constant %c of type tensor<`type`> with these values; the
// result %o is tensor<`result`>.
std::string folded(const std::string &type, const std::string &values, const std::string &result,
                   const std::string &operators) {
  std::string constant = "%c = \"tosa.const\"() {values = dense<" + values + "> : tensor<" + type +
                         ">} : () -> tensor<" + type + ">\n";
  PassResult outcome =
      runPasses(mainOf("", "tensor<" + result + ">",
                       constant + operators + "\nreturn %o : tensor<" + result + ">"),
                {"tosa-to-kernel"});
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

#define SHAPE(name, values, count)                                                                 \
  name " = tosa.const_shape {values = dense<" values "> : tensor<" count                           \
       "xindex>} : () -> !tosa.shape<" count ">\n"

TEST(Movement, PadFillsAround) {
  EXPECT_THAT(
      folded("1x2xi8", "[[1, 2]]", "2x4xi8",
             SHAPE("%p", "[1, 0, 1, 1]", "4") "%v = \"tosa.const\"() {values = dense<-7> : "
                                              "tensor<1xi8>} : () -> tensor<1xi8>\n"
                                              "%o = tosa.pad %c, %p, %v : (tensor<1x2xi8>, "
                                              "!tosa.shape<4>, tensor<1xi8>) -> tensor<2x4xi8>"),
      HasSubstr("dense<[[-7, -7, -7, -7], [-7, 1, 2, -7]]>"));
}

TEST(Movement, ConcatAlongTheInnerAxisTakesATensorTwice) {
  EXPECT_THAT(folded("2x2xi16", "[[1, 2], [3, 4]]", "2x4xi16",
                     "%o = tosa.concat %c, %c {axis = 1 : i32} : (tensor<2x2xi16>, "
                     "tensor<2x2xi16>) -> tensor<2x4xi16>"),
              HasSubstr("dense<[[1, 2, 1, 2], [3, 4, 3, 4]]>"));
}

TEST(Movement, Slice) {
  EXPECT_THAT(folded("3x3xi32", "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]", "2x1xi32",
                     SHAPE("%start", "[1, 2]", "2")
                         SHAPE("%size", "[2, 1]",
                               "2") "%o = tosa.slice %c, %start, %size : (tensor<3x3xi32>, "
                                    "!tosa.shape<2>, !tosa.shape<2>) -> tensor<2x1xi32>"),
              HasSubstr("dense<[[6], [9]]>"));
}

TEST(Movement, TransposeOfThreeAxes) {
  EXPECT_THAT(folded("1x2x3xi8", "[[[1, 2, 3], [4, 5, 6]]]", "3x1x2xi8",
                     "%o = tosa.transpose %c {perms = array<i32: 2, 0, 1>} : (tensor<1x2x3xi8>) -> "
                     "tensor<3x1x2xi8>"),
              HasSubstr("dense<[[[1, 4]], [[2, 5]], [[3, 6]]]>"));
}

TEST(Movement, TileOfBooleans) {
  EXPECT_THAT(
      folded(
          "1x2xi1", "[[true, false]]", "2x4xi1",
          SHAPE("%m", "[2, 2]",
                "2") "%o = tosa.tile %c, %m : (tensor<1x2xi1>, !tosa.shape<2>) -> tensor<2x4xi1>"),
      HasSubstr("dense<[[true, false, true, false], [true, false, true, false]]>"));
}

TEST(Movement, Reverse) {
  EXPECT_THAT(folded("2x2xi8", "[[1, 2], [3, 4]]", "2x2xi8",
                     "%o = tosa.reverse %c {axis = 1 : i32} : (tensor<2x2xi8>) -> tensor<2x2xi8>"),
              HasSubstr("dense<[[2, 1], [4, 3]]>"));
}

TEST(Movement, ReshapeOfAConstant) {
  EXPECT_THAT(
      folded(
          "2x2xi8", "[[1, 2], [3, 4]]", "4xi8",
          SHAPE("%s", "[4]",
                "1") "%o = tosa.reshape %c, %s : (tensor<2x2xi8>, !tosa.shape<1>) -> tensor<4xi8>"),
      HasSubstr("dense<[1, 2, 3, 4]>"));
}

#define RESIZE(numerator, denominator, offset, border, result)                                     \
  SHAPE("%scale", "[1, 1, " numerator ", " denominator "]", "4")                                   \
  SHAPE("%offset", "[0, " offset "]", "2")                                                         \
  SHAPE("%border", "[0, " border "]", "2")                                                         \
  "%o = tosa.resize %c, %scale, %offset, %border {mode = NEAREST_NEIGHBOR} : "                     \
  "(tensor<1x1x3x1xi8>, !tosa.shape<4>, !tosa.shape<2>, "                                          \
  "!tosa.shape<2>) -> tensor<" result ">"

TEST(Movement, ResizeRepeatsNearestElements) {
  EXPECT_THAT(folded("1x1x3x1xi8", "[[[[1], [2], [3]]]]", "1x1x6x1xi8",
                     RESIZE("4", "2", "-1", "1", "1x1x6x1xi8")),
              HasSubstr("dense<[[[[1], [1], [2], [2], [3], [3]]]]>"));
}

TEST(Movement, ResizeByAnUnevenFactorRoundsHalvesUp) {
  // Output o lies at (3 o - 2) / 5 of the input: -0.4 0.2 0.8 1.4 2.
  EXPECT_THAT(folded("1x1x3x1xi8", "[[[[1], [2], [3]]]]", "1x1x5x1xi8",
                     RESIZE("5", "3", "-2", "0", "1x1x5x1xi8")),
              HasSubstr("dense<[[[[1], [1], [2], [2], [3]]]]>"));
}

TEST(Movement, ResizeAgreesWithItsRegions) {
  PassResult result = runPasses(
      mainOf("%c: tensor<1x1x3x1xi8>", "tensor<1x1x6x1xi8>",
             RESIZE("4", "2", "-1", "1", "1x1x6x1xi8") "\nreturn %o : tensor<1x1x6x1xi8>"),
      {"tosa-to-kernel"});
  ASSERT_TRUE(result.succeeded) << testing::PrintToString(result.diagnostics);
  EXPECT_THAT(
      result.module,
      HasSubstr("{regions = [{result_offset = 0 : i64, result_strides = array<i64: 2, 1>, sizes = "
                "array<i64: 3, 2>, "
                "source = 0 : i64, source_offset = 0 : i64, source_strides = array<i64: 1, 0>}]}"));
}

TEST(Movement, GatherWithConstantIndices) {
  EXPECT_THAT(
      folded("2x3x1xi8", "[[[1], [2], [3]], [[4], [5], [6]]]", "2x4x1xi8",
             "%i = \"tosa.const\"() {values = dense<[[2, 0, 0, 1], [0, 1, 2, 2]]> : "
             "tensor<2x4xi32>} : () -> tensor<2x4xi32>\n"
             "%o = tosa.gather %c, %i : (tensor<2x3x1xi8>, tensor<2x4xi32>) -> tensor<2x4x1xi8>"),
      HasSubstr("dense<[[[3], [1], [1], [2]], [[4], [5], [6], [6]]]>"));
}

TEST(Movement, OneIndexMapForAllBatchesIsOneRegion) {
  PassResult result =
      runPasses(mainOf("%x: tensor<5x4x3xi8>", "tensor<5x2x3xi8>",
                       "%i = \"tosa.const\"() {values = dense<[[0, 2], [0, 2], [0, 2], [0, 2], [0, "
                       "2]]> : tensor<5x2xi32>} : () -> tensor<5x2xi32>\n"
                       "%o = tosa.gather %x, %i : (tensor<5x4x3xi8>, tensor<5x2xi32>) -> "
                       "tensor<5x2x3xi8>\nreturn %o : tensor<5x2x3xi8>"),
                {"tosa-to-kernel"});
  ASSERT_TRUE(result.succeeded) << testing::PrintToString(result.diagnostics);
  EXPECT_THAT(
      result.module,
      HasSubstr("regions = [{result_offset = 0 : i64, result_strides = array<i64: 3, 1>, sizes = "
                "array<i64: 10, 3>, "
                "source = 0 : i64, source_offset = 0 : i64, source_strides = array<i64: 6, 1>}]"));
}

TEST(Movement, ConstantsAboveTheCapAreNotFolded) {
  std::string module =
      folded("4096xi32", "1", "8192x4096xi32",
             SHAPE("%s", "[1, 4096]", "2")
                 SHAPE("%m", "[8192, 1]", "2") "%r = tosa.reshape %c, %s : (tensor<4096xi32>, "
                                               "!tosa.shape<2>) -> tensor<1x4096xi32>\n"
                                               "%o = tosa.tile %r, %m : (tensor<1x4096xi32>, "
                                               "!tosa.shape<2>) -> tensor<8192x4096xi32>");
  EXPECT_THAT(module, HasSubstr("kernel.assemble"));
}

TEST(Regions, CoalesceMergesWhatRunsOn) {
  kernel::Region region;
  region.sizes = {2, 1, 3, 4};
  region.sourceStrides = {12, 99, 4, 1};
  region.resultStrides = {24, 99, 4, 1};
  kernel::Region merged = kernel::coalesce(region);
  EXPECT_THAT(merged.sizes, testing::ElementsAre(2, 12));
  EXPECT_THAT(merged.sourceStrides, testing::ElementsAre(12, 1));
  EXPECT_THAT(merged.resultStrides, testing::ElementsAre(24, 1));
}

TEST(Regions, CoalesceKeepsADimension) {
  kernel::Region region;
  region.sizes = {1, 1};
  region.sourceStrides = region.resultStrides = {1, 1};
  EXPECT_THAT(kernel::coalesce(region).sizes, testing::ElementsAre(1));
}

// What a region moves: the element of the source for each of the result.
std::map<int64_t, int64_t> movesOf(const kernel::Region &region) {
  std::map<int64_t, int64_t> moves;
  std::vector<int64_t> at(region.sizes.size(), 0);
  for (;;) {
    int64_t from = region.sourceOffset, to = region.resultOffset;
    for (size_t i = 0; i < at.size(); ++i) {
      from += at[i] * region.sourceStrides[i];
      to += at[i] * region.resultStrides[i];
    }
    moves[to] = from;
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == region.sizes[i - 1])
      at[--i] = 0;
    if (i == 0)
      return moves;
  }
}

// A transpose, and the shape that it makes of `shape`.
kernel::Region transposed(std::vector<int64_t> &shape, std::mt19937 &random) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> result;
  kernel::Region region;
  for (size_t dim : order) {
    result.push_back(shape[dim]);
    region.sourceStrides.push_back(kernel::denseStrides(shape)[dim]);
  }
  region.sizes.assign(result.begin(), result.end());
  region.resultStrides = kernel::denseStrides(result);
  shape = result;
  return kernel::coalesce(region);
}

TEST(Regions, ComposedMoveWhatOneAfterTheOtherDoes) {
  std::mt19937 random(1);
  int composed = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<int64_t> shape = {2, 3, 4, 5};
    const kernel::Region first = transposed(shape, random);
    kernel::Region second = transposed(shape, random);
    if (trial % 2 == 1) { // a part of what is between
      const size_t cut = random() % second.sizes.size();
      const int64_t begin = static_cast<int64_t>(random()) % second.sizes[cut];
      second.sourceOffset += begin * second.sourceStrides[cut];
      second.sizes[cut] -= begin;
    }
    const mlir::FailureOr<kernel::Region> both = kernel::compose(first, second);
    if (failed(both))
      continue;
    ++composed;
    const std::map<int64_t, int64_t> between = movesOf(first);
    std::map<int64_t, int64_t> expected;
    for (auto [to, from] : movesOf(second))
      expected[to] = between.at(from);
    EXPECT_EQ(movesOf(*both), expected) << trial;
  }
  EXPECT_GT(composed, 100);
}

TEST(Regions, StepsInDigitsStayInThem) {
  kernel::Region region; // columns 4 to 7 of [3, 8], as one row
  region.sizes = {3, 4};
  region.sourceStrides = {8, 1};
  region.sourceOffset = 4;
  region.resultStrides = {4, 1};
  const auto digits = kernel::inDigits(region, kernel::digitsOf({3, 2, 4}));
  ASSERT_TRUE(succeeded(digits));
  EXPECT_THAT(digits->digits, testing::ElementsAre(0, 2));
  EXPECT_THAT(digits->starts, testing::ElementsAre(0, 1, 0));
  EXPECT_TRUE(failed(kernel::inDigits(region, kernel::digitsOf({4, 6}))));
}

TEST(Regions, StepsThatRepeatTheSourceChangeNoDigit) {
  kernel::Region region;
  region.sizes = {2, 6};
  region.sourceStrides = {0, 1};
  region.resultStrides = {6, 1};
  const auto digits = kernel::inDigits(region, kernel::digitsOf({2, 3}));
  ASSERT_TRUE(succeeded(digits));
  EXPECT_THAT(digits->digits, testing::ElementsAre(-1, 0, 1));
  EXPECT_THAT(digits->region.sizes, testing::ElementsAre(2, 2, 3));
}

} // namespace
} // namespace tilewright
