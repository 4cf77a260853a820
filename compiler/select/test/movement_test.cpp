// Operators that move elements, told by where the elements of a constant end up; what does not fold
// has the same regions.
#include "run_passes.h"

#include "tilewright/compiler/select/kernel_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

} // namespace
} // namespace tilewright
