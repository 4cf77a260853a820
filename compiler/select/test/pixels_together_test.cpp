// ctest -R PixelsTogether: pixels of a row that fill the array's columns together.
#include "run_passes.h"

#include "tilewright/compiler/select/selection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fuse(const std::string &text, const std::string &result) {
  const PassResult outcome =
      runPasses(mainOf("%x: tensor<1x8x8x8xi8>, %r: tensor<1x8x8x6xi8>", result, text),
                {"kernel-fuse"}, std::make_shared<Selection>(isa::load({"tiny4", {}, ""})));
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

// A convolution of 3 taps a row to so many channels, narrowed, on an array of 4 columns. `behind`
// reads %y and gives %z.
std::string convolved(int64_t channels, const std::string &behind = "", int64_t resultChannels = 0,
                      const std::string &weights = "dense<1>") {
  const std::string attributes =
      "{stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 1>, dilation = array<i64: 1, 1>, "
      "input_zp = 0 : i64, weight_zp = 0 : i64}";
  const std::string result =
      fmt::format("tensor<1x8x8x{}xi8>", resultChannels > 0 ? resultChannels : channels);
  const std::string text = fmt::format(
      "%w = \"tosa.const\"() {{values = {2} : tensor<{0}x1x3x8xi8>}} : () -> "
      "tensor<{0}x1x3x8xi8>\n"
      "%m = \"tosa.const\"() {{values = dense<[10, 11, 12, 13, 14, 15{3}]> : tensor<{0}xi32>}} : "
      "() -> tensor<{0}xi32>\n"
      "%h = \"tosa.const\"() {{values = dense<30> : tensor<{0}xi8>}} : () -> tensor<{0}xi8>\n"
      "%s = kernel.conv2d %x, %w, %z32 {1} : (tensor<1x8x8x8xi8>, tensor<{0}x1x3x8xi8>, "
      "tensor<1xi32>) -> tensor<1x8x8x{0}xi32>\n"
      "%y = kernel.rescale %s, %m, %h {{input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 : i64, "
      "hi = 127 : i64, input_unsigned = false}} : (tensor<1x8x8x{0}xi32>, tensor<{0}xi32>, "
      "tensor<{0}xi8>) -> tensor<1x8x8x{0}xi8>\n",
      channels, attributes, weights, channels == 8 ? ", 16, 17" : "");
  return fuse(text + behind + fmt::format("return %{} : {}", behind.empty() ? "y" : "z", result),
              result);
}

// A convolution of `tap` taps a row that reads %y, and its result narrowed.
std::string reader(int64_t tap) {
  const std::string pad = tap == 3 ? "0, 0, 1, 1" : "0, 0, 0, 0";
  return fmt::format(
      "%v = \"tosa.const\"() {{values = dense<2> : tensor<4x1x{0}x6xi8>}} : () -> "
      "tensor<4x1x{0}x6xi8>\n"
      "%t = kernel.conv2d %y, %v, %z32 {{stride = array<i64: 1, 1>, pad = array<i64: {1}>, "
      "dilation "
      "= array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = 0 : i64}} : (tensor<1x8x8x6xi8>, "
      "tensor<4x1x{0}x6xi8>, tensor<1xi32>) -> tensor<1x8x8x4xi32>\n"
      "%o = \"tosa.const\"() {{values = dense<7> : tensor<1xi32>}} : () -> tensor<1xi32>\n"
      "%z = kernel.rescale %t, %o, %z8 {{input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 : i64, "
      "hi = 127 : i64, input_unsigned = false}} : (tensor<1x8x8x4xi32>, tensor<1xi32>, "
      "tensor<1xi8>) -> tensor<1x8x8x4xi8>\n",
      tap, pad);
}

} // namespace

TEST(PixelsTogether, TwoOfOneAndAHalfSquaresOfColumns) {
  EXPECT_THAT(convolved(6),
              AllOf(HasSubstr("pixels = 2 : i64, stride = array<i64: 1, 2>"),
                    HasSubstr("tensor<12x1x4x8xi8>"), HasSubstr("tensor<1x8x4x12xi8>"),
                    HasSubstr("(tensor<1x8x4x12xi8>) -> tensor<1x8x8x6xi8>")));
}

TEST(PixelsTogether, HaveParametersOfTheirOwn) {
  EXPECT_THAT(convolved(6), HasSubstr("dense<[10, 11, 12, 13, 14, 15, 10, 11, 12, 13, 14, 15]>"));
}

TEST(PixelsTogether, NotWhereChannelsFillTheColumns) {
  EXPECT_THAT(convolved(8), AllOf(HasSubstr("kernel.yield"), Not(HasSubstr("pixels = "))));
}

// The first square holds zeros alone, which the array leaves out as it is.
TEST(PixelsTogether, NotWhereSquaresAreZero) {
  std::string weights;
  for (int channel = 0; channel < 6; ++channel)
    weights +=
        fmt::format("{0}[[[{1}, {1}, {1}, {1}, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1], [1, 1, "
                    "1, 1, 1, 1, 1, 1]]]",
                    channel ? ", " : "", channel < 4 ? 0 : 1);
  EXPECT_THAT(convolved(6, "", 0, "dense<[" + weights + "]>"),
              AllOf(HasSubstr("kernel.yield"), Not(HasSubstr("pixels = "))));
}

TEST(PixelsTogether, OtherOperandsAreReadAlike) {
  EXPECT_THAT(
      convolved(
          6, "%z = kernel.add_i8 %y, %r {a_zp = 0 : i64, a_multiplier = 1073741824 : i64, a_shift "
             "= 30 : i64, b_zp = 0 : i64, b_multiplier = 1073741824 : i64, b_shift = 30 : i64, "
             "multiplier = 1073741824 : i64, shift = 30 : i64, output_zp = 0 : i64, lo = -128 : "
             "i64, hi = 127 : i64} : (tensor<1x8x8x6xi8>, tensor<1x8x8x6xi8>) -> "
             "tensor<1x8x8x6xi8>\n"),
      HasSubstr("kernel.view %arg1 : (tensor<1x8x8x6xi8>) -> tensor<1x8x4x12xi8>"));
}

// The two may be in one fused stack.
TEST(PixelsTogether, AConvolutionOfOneTapBehindItGoesAlong) {
  EXPECT_THAT(convolved(6, reader(1), 4),
              AllOf(HasSubstr("tensor<8x1x1x12xi8>"),
                    HasSubstr("(tensor<1x8x4x12xi8>, tensor<8x1x1x12xi8>, tensor<1xi32>) -> "
                              "tensor<1x8x4x8xi32>"),
                    Not(HasSubstr("-> tensor<1x8x8x6xi8>"))));
}

// Elements that a transpose puts into the planes of channels would go one by one.
TEST(PixelsTogether, NotWhereThatOneIsTransposed) {
  std::string behind = reader(1);
  behind.replace(behind.find("%z = "), 2, "%q");
  behind += "%z = kernel.assemble %q {regions = [{source = 0 : i64, source_offset = 0 : i64, "
            "result_offset = 0 : i64, sizes = array<i64: 4, 64>, source_strides = array<i64: 1, "
            "4>, result_strides = array<i64: 64, 1>}]} : (tensor<1x8x8x4xi8>) -> "
            "tensor<1x8x8x4xi8>\n";
  EXPECT_THAT(convolved(6, behind, 4),
              AllOf(HasSubstr("kernel.yield"), Not(HasSubstr("pixels = "))));
}

TEST(PixelsTogether, OneOfMoreTapsReadsWhatStandsThere) {
  EXPECT_THAT(convolved(6, reader(3), 4), HasSubstr("-> tensor<1x8x8x6xi8>"));
}

// A depthwise convolution or a pool is in one fused stack with it, and rows of a concatenation are
// apart.
TEST(PixelsTogether, NotBeforeAPool) {
  EXPECT_THAT(
      convolved(6, "%z = kernel.max_pool %y {kernel = array<i64: 3, 3>, stride = array<i64: 1, "
                   "1>, pad = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x6xi8>) -> "
                   "tensor<1x8x8x6xi8>\n"),
      AllOf(HasSubstr("kernel.yield"), Not(HasSubstr("pixels = "))));
}

TEST(PixelsTogether, NotOfAConcatenation) {
  EXPECT_THAT(
      convolved(
          6,
          "%z = kernel.assemble %y, %r {regions = [{source = 0 : i64, source_offset = 0 : i64, "
          "result_offset = 0 : i64, sizes = array<i64: 64, 6>, source_strides = array<i64: 6, "
          "1>, result_strides = array<i64: 12, 1>}, {source = 1 : i64, source_offset = 0 : "
          "i64, result_offset = 6 : i64, sizes = array<i64: 64, 6>, source_strides = "
          "array<i64: 6, 1>, result_strides = array<i64: 12, 1>}]} : (tensor<1x8x8x6xi8>, "
          "tensor<1x8x8x6xi8>) -> tensor<1x8x8x12xi8>\n",
          12),
      AllOf(HasSubstr("kernel.yield"), Not(HasSubstr("pixels = "))));
}

} // namespace tilewright
