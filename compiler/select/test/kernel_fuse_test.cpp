// Each fusion of kernel-fuse, and what must not fuse.
#include "kernel_text.h"

#include "tilewright/compiler/select/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// --- add_i8

TEST(FuseAddition, OfTwoRescaledTensors) {
  std::string module =
      fused(two8, eight,
            scales + widen("%0", "%a", "%m, %s", 3) + widen("%1", "%b", "%one, %thirty", -4) +
                binary("%2", "add", "%0", "%1") +
                rescale("%o", "%2", "i32", "i8", "%m, %s", 0, 9, -100, 100) + return8);
  EXPECT_THAT(module, HasSubstr("kernel.add_i8 %arg0, %arg1 {a_multiplier = 5 : i64, a_shift = 10 "
                                ": i64, a_zp = 3 : i64, b_multiplier = "
                                "1073741824 : i64, b_shift = 30 : i64, b_zp = -4 : i64, hi = 100 : "
                                "i64, lo = -100 : i64, multiplier = 5 : "
                                "i64, output_zp = 9 : i64, shift = 10 : i64}"));
  EXPECT_THAT(module, Not(HasSubstr("kernel.rescale")));
}

TEST(FuseAddition, OfATensorToItself) {
  std::string module = fused("%a: tensor<2x4xi8>", eight,
                             scales + widen("%0", "%a") + binary("%2", "add", "%0", "%0") +
                                 rescale("%o", "%2", "i32", "i8") + return8);
  EXPECT_THAT(module, HasSubstr("kernel.add_i8 %arg0, %arg0"));
}

TEST(FuseAddition, OfAConstant) {
  std::string constant =
      R"(%k = "tosa.const"() {values = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4xi8>)"
      "\n";
  std::string module =
      fused("%a: tensor<2x4xi8>", eight,
            scales + constant + widen("%0", "%a") + widen("%1", "%k") +
                binary("%2", "add", "%0", "%1") + rescale("%o", "%2", "i32", "i8") + return8);
  EXPECT_THAT(module, HasSubstr("kernel.add_i8 %arg0, %0"));
}

TEST(FuseAddition, KeepsARescaleThatAnotherOperatorReads) {
  std::string module =
      fused(two8, std::string(eight) + ", " + wide,
            scales + widen("%0", "%a") + widen("%1", "%b") + binary("%2", "add", "%0", "%1") +
                rescale("%o", "%2", "i32", "i8") + unary("%3", "%0") +
                "return %o, %3 : tensor<2x4xi8>, tensor<2x4xi32>");
  EXPECT_THAT(module, HasSubstr("kernel.add_i8 %arg0, %arg1"));
  EXPECT_EQ(count(module, "kernel.rescale"), 1) << module;
}

TEST(FuseAddition, NotWhenTheSumIsReadTwice) {
  EXPECT_THAT(fused(two8, std::string(eight) + ", " + wide,
                    scales + widen("%0", "%a") + widen("%1", "%b") +
                        binary("%2", "add", "%0", "%1") + rescale("%o", "%2", "i32", "i8") +
                        "return %o, %2 : tensor<2x4xi8>, tensor<2x4xi32>"),
              Not(HasSubstr("kernel.add_i8")));
}

TEST(FuseAddition, NotByChannels) {
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a", "%mc, %sc") + widen("%1", "%b") +
                        binary("%2", "add", "%0", "%1") + rescale("%o", "%2", "i32", "i8") +
                        return8),
              Not(HasSubstr("kernel.add_i8")));
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a") + widen("%1", "%b") +
                        binary("%2", "add", "%0", "%1") +
                        rescale("%o", "%2", "i32", "i8", "%mc, %sc") + return8),
              Not(HasSubstr("kernel.add_i8")));
}

TEST(FuseAddition, NotWithAnOffsetOrARangeOnAnOperand) {
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a", "%m, %s", 0, 1) + widen("%1", "%b") +
                        binary("%2", "add", "%0", "%1") + rescale("%o", "%2", "i32", "i8") +
                        return8),
              Not(HasSubstr("kernel.add_i8")));
  EXPECT_THAT(fused(two8, eight,
                    scales + rescale("%0", "%a", "i8", "i32", "%m, %s", 0, 0, 0, 100) +
                        widen("%1", "%b") + binary("%2", "add", "%0", "%1") +
                        rescale("%o", "%2", "i32", "i8") + return8),
              Not(HasSubstr("kernel.add_i8")));
}

TEST(FuseAddition, NotToAWiderResult) {
  EXPECT_THAT(fused(two8, "tensor<2x4xi16>",
                    scales + widen("%0", "%a") + widen("%1", "%b") +
                        binary("%2", "add", "%0", "%1") + rescale("%o", "%2", "i32", "i16") +
                        "return %o : tensor<2x4xi16>"),
              Not(HasSubstr("kernel.add_i8")));
}

TEST(FuseAddition, NotASubtraction) {
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a") + widen("%1", "%b") +
                        binary("%2", "sub", "%0", "%1") + rescale("%o", "%2", "i32", "i8") +
                        return8),
              Not(HasSubstr("kernel.add_i8")));
}

// --- mul_i8

TEST(FuseMultiplication, OfTwoTensorsWithoutTheirZeroPoints) {
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a", "%one, %thirty", 3) +
                        widen("%1", "%b", "%one, %thirty", -4) + binary("%2", "mul", "%0", "%1") +
                        rescale("%o", "%2", "i32", "i8", "%m, %s", 0, 9) + return8),
              AllOf(HasSubstr("kernel.mul_i8 %arg0, %arg1 {a_zp = 3 : i64, b_zp = -4 : i64, hi = "
                              "127 : i64, lo = -128 : i64, multiplier = 5 : "
                              "i64, output_zp = 9 : i64, shift = 10 : i64}"),
                    Not(HasSubstr("kernel.rescale"))));
}

TEST(FuseMultiplication, OfNarrowOperands) {
  EXPECT_THAT(fused(two8, eight,
                    scales +
                        "%2 = kernel.binary mul %a, %b {shift = 0 : i64} : (tensor<2x4xi8>, "
                        "tensor<2x4xi8>) -> tensor<2x4xi32>\n" +
                        rescale("%o", "%2", "i32", "i8") + return8),
              HasSubstr("kernel.mul_i8 %arg0, %arg1 {a_zp = 0 : i64, b_zp = 0 : i64"));
}

TEST(FuseMultiplication, NotOfScaledOperands) {
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a") + widen("%1", "%b", "%one, %thirty") +
                        binary("%2", "mul", "%0", "%1") + rescale("%o", "%2", "i32", "i8") +
                        return8),
              Not(HasSubstr("kernel.mul_i8")));
}

TEST(FuseMultiplication, NotWithAShift) {
  EXPECT_THAT(fused(two8, eight,
                    scales + widen("%0", "%a", "%one, %thirty") +
                        widen("%1", "%b", "%one, %thirty") + binary("%2", "mul", "%0", "%1", 3) +
                        rescale("%o", "%2", "i32", "i8") + return8),
              Not(HasSubstr("kernel.mul_i8")));
}

// --- clamps

TEST(FuseClamp, IntoTheRescaleBefore) {
  std::string module =
      fused("%a: tensor<2x4xi32>", eight,
            scales + rescale("%0", "%a", "i32", "i8", "%m, %s", 0, 0, -20, 127) +
                rescale("%o", "%0", "i8", "i8", "%one, %thirty", 0, 0, -30, 60) + return8);
  EXPECT_EQ(count(module, "kernel.rescale"), 1) << module;
  EXPECT_THAT(
      module,
      HasSubstr("hi = 60 : i64, input_unsigned = false, input_zp = 0 : i64, lo = -20 : i64"));
}

TEST(FuseClamp, ToAConstantWhenTheRangesAreApart) {
  EXPECT_THAT(fused("%a: tensor<2x4xi32>", eight,
                    scales + rescale("%0", "%a", "i32", "i8", "%m, %s", 0, 0, -20, -10) +
                        rescale("%o", "%0", "i8", "i8", "%one, %thirty", 0, 0, 5, 60) + return8),
              HasSubstr("hi = 5 : i64, input_unsigned = false, input_zp = 0 : i64, lo = 5 : i64"));
}

TEST(FuseClamp, NotOfUnsignedElements) {
  EXPECT_EQ(
      count(fused("%a: tensor<2x4xi8>", eight,
                  scales + rescale("%0", "%a", "i8", "i8", "%m, %s", 0, 0, 0, 255) +
                      rescale("%o", "%0", "i8", "i8", "%one, %thirty", 0, 0, -30, 60) + return8),
            "kernel.rescale"),
      2);
}

TEST(FuseClamp, NotWhenTheValueIsReadTwice) {
  EXPECT_EQ(count(fused("%a: tensor<2x4xi32>", "tensor<2x4xi8>, tensor<2x4xi8>",
                        scales + rescale("%0", "%a", "i32", "i8") +
                            rescale("%o", "%0", "i8", "i8", "%one, %thirty", 0, 0, -30, 60) +
                            "return %o, %0 : tensor<2x4xi8>, tensor<2x4xi8>"),
                  "kernel.rescale"),
            2);
}

TEST(FuseClamp, NotARescaleThatAlsoScales) {
  EXPECT_EQ(count(fused("%a: tensor<2x4xi32>", eight,
                        scales + rescale("%0", "%a", "i32", "i8") +
                            rescale("%o", "%0", "i8", "i8", "%m, %s", 0, 0, -30, 60) + return8),
                  "kernel.rescale"),
            2);
}

// --- sums of images

// The sum of an image of so many rows and columns, where the instructions of `target` are known.
std::string sumOfImage(int64_t size, const char *target = nullptr) {
  const std::string image = "1x" + std::to_string(size) + "x" + std::to_string(size) + "x4x",
                    row = "1x1x" + std::to_string(size) + "x4x";
  const std::string text =
      "%w = kernel.rescale %x, %one, %thirty {input_zp = 3 : i64, output_zp = 0 : i64, lo = "
      "-2147483648 : i64, hi = 2147483647 : i64, input_unsigned = false} : (tensor<" +
      image + "i8>, tensor<1xi32>, tensor<1xi8>) -> tensor<" + image +
      "i32>\n%r = kernel.reduce sum %w {axis = 1 : i64} : (tensor<" + image + "i32>) -> tensor<" +
      row + "i32>\n%o = kernel.reduce sum %r {axis = 2 : i64} : (tensor<" + row +
      "i32>) -> tensor<1x1x1x4xi32>\nreturn %o : tensor<1x1x1x4xi32>";
  const PassResult outcome = runPasses(
      mainOf("%x: tensor<" + image + "i8>", "tensor<1x1x1x4xi32>", scales + text), {"kernel-fuse"},
      target ? std::make_shared<Selection>(isa::load({target, {}, ""})) : nullptr);
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

TEST(FuseSums, OfASmallImage) { EXPECT_THAT(sumOfImage(32), HasSubstr("kernel.sum_pool %arg0")); }

TEST(FuseSums, OfALargeImageWhereSumsOfItsPartsFit) {
  EXPECT_THAT(sumOfImage(40, "edge16"), HasSubstr("kernel.sum_pool %arg0"));
}

TEST(FuseSums, NotOfALargeImageWhoseRowsDoNotFit) {
  EXPECT_THAT(sumOfImage(1200, "tiny4"), Not(HasSubstr("kernel.sum_pool")));
}

TEST(FuseSums, NotOfALargeImageForUnknownInstructions) {
  EXPECT_THAT(sumOfImage(40), Not(HasSubstr("kernel.sum_pool")));
}

TEST(KernelFuse, RunsOnItsOwnOutput) {
  std::string once =
      fused("%a: tensor<2x4xi32>", wide, unary("%0", "%a") + unary("%o", "%0") + return32);
  PassResult twice = runPasses(once, {"kernel-fuse"});
  ASSERT_TRUE(twice.succeeded) << testing::PrintToString(twice.diagnostics);
  EXPECT_EQ(twice.module, once);
}

TEST(KernelFuse, AsksForSelectionFirst) {
  EXPECT_EQ(
      diagnosticOf(mainOf("%a: tensor<2x4xi32>", wide,
                          "%o = tosa.abs %a : (tensor<2x4xi32>) -> tensor<2x4xi32>\n" + return32),
                   {"kernel-fuse"}),
      "2:6: 'tosa.abs' op is no kernel operation: run tosa-to-kernel first");
}

} // namespace
} // namespace tilewright
