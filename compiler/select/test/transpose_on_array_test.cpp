// ctest -R TransposeOnArray: which pictures from NCHW are put in order by the array.
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

// A picture of 3 channels, and a convolution of 3x3 taps and a stride of 2 to so many, whose result
// a depthwise convolution reads or nobody. `part`: rows and columns that it reads, if not all.
std::string read(int64_t size, int64_t channels, bool hasWindows = false,
                 const char *target = "edge16", int64_t part = 0) {
  const int64_t side = part > 0 ? part : size, outputs = side / 2;
  const std::string attributes = "dilation = array<i64: 1, 1>, weight_zp = 0 : i64}",
                    sums = fmt::format("tensor<1x{0}x{0}x{1}xi32>", outputs, channels),
                    narrow = fmt::format("tensor<1x{0}x{0}x{1}xi8>", outputs, channels);
  std::string text = fmt::format(
      "%w = \"tosa.const\"() {{values = dense<1> : tensor<{1}x3x3x3xi8>}} : () -> "
      "tensor<{1}x3x3x3xi8>\n"
      "%one = \"tosa.const\"() {{values = dense<5> : tensor<1xi32>}} : () -> tensor<1xi32>\n"
      "%p = kernel.strided_view %x {{offset = 0 : i64, strides = array<i64: 0, {0}, 1, {2}>}} : "
      "(tensor<1x3x{0}x{0}xi8>) -> tensor<1x{6}x{6}x3xi8>\n"
      "%s = kernel.conv2d %p, %w, %z32 {{stride = array<i64: 2, 2>, pad = array<i64: 1, 0, 1, 0>, "
      "input_zp = 5 : i64, {3} : (tensor<1x{6}x{6}x3xi8>, tensor<{1}x3x3x3xi8>, tensor<1xi32>) -> "
      "{4}\n"
      "%y = kernel.rescale %s, %one, %z8 {{input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 : "
      "i64, "
      "hi = 127 : i64, input_unsigned = false}} : ({4}, tensor<1xi32>, tensor<1xi8>) -> {5}\n",
      size, channels, size * size, attributes, sums, narrow, side);
  if (hasWindows)
    text += fmt::format(
        "%v = \"tosa.const\"() {{values = dense<1> : tensor<3x3x{0}x1xi8>}} : () -> "
        "tensor<3x3x{0}x1xi8>\n"
        "%o = kernel.depthwise %y, %v, %z32 {{stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, "
        "1>, input_zp = 0 : i64, {1} : ({2}, tensor<3x3x{0}x1xi8>, tensor<1xi32>) -> {3}\n",
        channels, attributes, narrow, sums);
  text += hasWindows ? "return %o : " + sums : "return %y : " + narrow;
  const PassResult outcome = runPasses(
      mainOf(fmt::format("%x: tensor<1x3x{0}x{0}xi8>", size), hasWindows ? sums : narrow, text),
      {"kernel-fuse"}, std::make_shared<Selection>(isa::load({target, {}, ""})));
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

} // namespace

TEST(TransposeOnArray, WhereLoadsWouldTakeLongest) {
  EXPECT_THAT(
      read(96, 16),
      AllOf(HasSubstr("kernel.view %arg0 : (tensor<1x3x96x96xi8>) -> tensor<1x3x576x16xi8>"),
            HasSubstr("tensor<48x3x1x16xi8>"), Not(HasSubstr("kernel.strided_view"))));
}

TEST(TransposeOnArray, NotWhereProductsTakeAsLong) {
  EXPECT_THAT(read(96, 128), HasSubstr("kernel.strided_view"));
}

// They have work while the picture comes in.
TEST(TransposeOnArray, NotWhereWindowsAreMadeBeside) {
  EXPECT_THAT(read(96, 16, true), HasSubstr("kernel.strided_view"));
}

TEST(TransposeOnArray, WhereLoadsTakeLongerThanWindows) {
  EXPECT_THAT(read(96, 16, true, "server128"), Not(HasSubstr("kernel.strided_view")));
}

// The convolution reads 95 rows and columns of 96.
TEST(TransposeOnArray, OfAPictureOfWhichAPartIsRead) {
  EXPECT_THAT(read(96, 16, false, "edge16", 95),
              AllOf(HasSubstr("tensor<1x3x576x16xi8>"),
                    HasSubstr("offset = 0 : i64, strides = array<i64: 0, 288, 3, 1>"),
                    HasSubstr("(tensor<1x96x96x3xi8>) -> tensor<1x95x95x3xi8>")));
}

// Of one row, the next one is not far away.
TEST(TransposeOnArray, NotOfARowWithoutAStride) {
  const std::string text =
      "%w = \"tosa.const\"() {values = dense<1> : tensor<16x1x1x3xi8>} : () -> "
      "tensor<16x1x1x3xi8>\n"
      "%p = kernel.strided_view %x {offset = 0 : i64, strides = array<i64: 0, 0, 1, 9216>} : "
      "(tensor<1x3x1x9216xi8>) -> tensor<1x1x9216x3xi8>\n"
      "%s = kernel.conv2d %p, %w, %z32 {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
      "input_zp = 0 : i64, dilation = array<i64: 1, 1>, weight_zp = 0 : i64} : "
      "(tensor<1x1x9216x3xi8>, tensor<16x1x1x3xi8>, tensor<1xi32>) -> tensor<1x1x9216x16xi32>\n"
      "return %s : tensor<1x1x9216x16xi32>";
  const PassResult outcome =
      runPasses(mainOf("%x: tensor<1x3x1x9216xi8>", "tensor<1x1x9216x16xi32>", text),
                {"kernel-fuse"}, std::make_shared<Selection>(isa::load({"edge16", {}, ""})));
  ASSERT_TRUE(outcome.succeeded) << testing::PrintToString(outcome.diagnostics);
  EXPECT_THAT(outcome.module, HasSubstr("kernel.strided_view"));
}

TEST(TransposeOnArray, NotOfASmallPicture) {
  EXPECT_THAT(read(16, 16), HasSubstr("kernel.strided_view"));
}

} // namespace tilewright
