// Each fusion of kernel-fuse, and what must not fuse.
#include "run_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fused(const std::string &arguments, const std::string &results,
                  const std::string &operations) {
  PassResult outcome = runPasses(mainOf(arguments, results, operations), {"kernel-fuse"});
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// Multipliers and shifts that the tests use: %one and %thirty scale by one, %m and %s by 5 / 2^10,
// %mc and %sc by channels.
const std::string scales = R"(
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %thirty = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %m = "tosa.const"() {values = dense<5> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<10> : tensor<1xi8>} : () -> tensor<1xi8>
  %mc = "tosa.const"() {values = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  %sc = "tosa.const"() {values = dense<[2, 3, 4, 5]> : tensor<4xi8>} : () -> tensor<4xi8>
)";

// A rescale of tensor<2x4x`from`>.
std::string rescale(const std::string &result, const std::string &x, const std::string &from,
                    const std::string &to, const std::string &scale = "%m, %s", int inputZp = 0,
                    int outputZp = 0, int64_t lo = -128, int64_t hi = 127,
                    bool isUnsigned = false) {
  std::string channels = scale == "%mc, %sc" ? "4" : "1";
  return result + " = kernel.rescale " + x + ", " + scale +
         " {input_zp = " + std::to_string(inputZp) +
         " : i64, output_zp = " + std::to_string(outputZp) + " : i64, lo = " + std::to_string(lo) +
         " : i64, hi = " + std::to_string(hi) +
         " : i64, input_unsigned = " + (isUnsigned ? "true" : "false") + "} : (tensor<2x4x" + from +
         ">, tensor<" + channels + "xi32>, tensor<" + channels + "xi8>) -> tensor<2x4x" + to +
         ">\n";
}
std::string widen(const std::string &result, const std::string &x,
                  const std::string &scale = "%m, %s", int inputZp = 0, int outputZp = 0) {
  return rescale(result, x, "i8", "i32", scale, inputZp, outputZp, INT32_MIN, INT32_MAX);
}
std::string binary(const std::string &result, const std::string &function, const std::string &a,
                   const std::string &b, int shift = 0) {
  return result + " = kernel.binary " + function + " " + a + ", " + b +
         " {shift = " + std::to_string(shift) +
         " : i64} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>\n";
}
std::string unary(const std::string &result, const std::string &x) {
  return result + " = kernel.unary abs " + x + " : (tensor<2x4xi32>) -> tensor<2x4xi32>\n";
}

constexpr const char *eight = "tensor<2x4xi8>", *wide = "tensor<2x4xi32>";
constexpr const char *two8 = "%a: tensor<2x4xi8>, %b: tensor<2x4xi8>";
const std::string return8 = "return %o : tensor<2x4xi8>", return32 = "return %o : tensor<2x4xi32>";

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

// --- groups

std::string convolution(const std::string &result, const std::string &x) {
  return R"(%w = "tosa.const"() {values = dense<1> : tensor<4x1x1x4xi8>} : () -> tensor<4x1x1x4xi8>)"
         "\n" +
         result + " = kernel.conv2d " + x +
         ", %w, %z32 {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = "
         "array<i64: 1, 1>, input_zp = 0 : i64, "
         "weight_zp = 0 : i64} : (tensor<1x2x2x4xi8>, tensor<4x1x1x4xi8>, tensor<1xi32>) -> "
         "tensor<1x2x2x4xi32>\n";
}

TEST(Group, AnchorTakesWhatFollowsOnTheTile) {
  std::string module =
      fused("%a: tensor<1x2x2x4xi8>, %skip: tensor<1x2x2x4xi32>", "tensor<1x2x2x4xi32>",
            convolution("%0", "%a") +
                "%1 = kernel.binary add %skip, %0 {shift = 0 : i64} : (tensor<1x2x2x4xi32>, "
                "tensor<1x2x2x4xi32>) -> tensor<1x2x2x4xi32>\n"
                "%o = kernel.unary abs %1 : (tensor<1x2x2x4xi32>) -> "
                "tensor<1x2x2x4xi32>\nreturn %o : tensor<1x2x2x4xi32>");
  EXPECT_EQ(count(module, "kernel.group"), 1) << module;
  EXPECT_THAT(module, HasSubstr("kernel.yield %5"));
}

TEST(Group, EndsAtAValueThatIsReadTwice) {
  std::string module = fused("%a: tensor<2x4xi32>", "tensor<2x4xi32>, tensor<2x4xi32>",
                             unary("%0", "%a") + unary("%1", "%0") + unary("%2", "%0") +
                                 "return %1, %2 : tensor<2x4xi32>, tensor<2x4xi32>");
  EXPECT_EQ(count(module, "kernel.group"), 3) << module;
}

TEST(Group, TakesAValueThatIsBothOperands) {
  EXPECT_EQ(count(fused("%a: tensor<2x4xi32>", wide,
                        unary("%0", "%a") + binary("%o", "add", "%0", "%0") + return32),
                  "kernel.group"),
            1);
}

TEST(Group, EndsWhereTheValueIsBroadcast) {
  std::string module = fused("%a: tensor<2x1xi32>, %b: tensor<2x4xi32>", wide,
                             "%0 = kernel.unary abs %a : (tensor<2x1xi32>) -> tensor<2x1xi32>\n"
                             "%o = kernel.binary add %b, %0 {shift = 0 : i64} : "
                             "(tensor<2x4xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>\n" +
                                 return32);
  EXPECT_EQ(count(module, "kernel.group"), 2) << module;
}

TEST(Group, TakesABroadcastOperandFromOutside) {
  std::string module = fused("%a: tensor<2x4xi32>, %b: tensor<2x1xi32>", wide,
                             unary("%0", "%a") +
                                 "%o = kernel.binary add %0, %b {shift = 0 : i64} : "
                                 "(tensor<2x4xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>\n" +
                                 return32);
  EXPECT_EQ(count(module, "kernel.group"), 1) << module;
}

TEST(Group, OfBothOperandsTakesTheSum) {
  std::string module =
      fused("%a: tensor<2x4xi32>, %b: tensor<2x4xi32>", wide,
            unary("%0", "%a") + unary("%1", "%b") + binary("%o", "add", "%0", "%1") + return32);
  EXPECT_EQ(count(module, "kernel.group"), 1) << module;
  EXPECT_THAT(module, HasSubstr("%1 = kernel.unary abs %arg1 : (tensor<2x4xi32>) -> "
                                "tensor<2x4xi32>\n      %2 = kernel.unary abs %arg0"));
}

TEST(Group, BeginsWithTheAnchorOfTheTwo) {
  const std::string sum = "%o = kernel.binary add %1, %0 {shift = 0 : i64} : "
                          "(tensor<1x2x2x4xi32>, tensor<1x2x2x4xi32>) -> tensor<1x2x2x4xi32>\n"
                          "return %o : tensor<1x2x2x4xi32>";
  const std::string module =
      fused("%a: tensor<1x2x2x4xi8>, %b: tensor<1x2x2x4xi32>", "tensor<1x2x2x4xi32>",
            convolution("%0", "%a") +
                "%1 = kernel.unary abs %b : (tensor<1x2x2x4xi32>) -> tensor<1x2x2x4xi32>\n" + sum);
  EXPECT_EQ(count(module, "kernel.group"), 1) << module;
  EXPECT_LT(module.find("kernel.conv2d"), module.find("kernel.unary")) << module;
}

TEST(Group, HasOneAnchor) {
  const std::string module = fused(
      "%a: tensor<1x2x2x4xi8>, %b: tensor<1x2x2x4xi8>", "tensor<1x2x2x4xi32>",
      convolution("%0", "%a") +
          "%1 = kernel.conv2d %b, %w, %z32 {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, "
          "0, 0>, dilation = array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = 0 : i64} : "
          "(tensor<1x2x2x4xi8>, tensor<4x1x1x4xi8>, tensor<1xi32>) -> tensor<1x2x2x4xi32>\n"
          "%o = kernel.binary add %1, %0 {shift = 0 : i64} : (tensor<1x2x2x4xi32>, "
          "tensor<1x2x2x4xi32>) -> tensor<1x2x2x4xi32>\nreturn %o : tensor<1x2x2x4xi32>");
  EXPECT_EQ(count(module, "kernel.group"), 2) << module;
}

TEST(Group, StandsWhereAllItReadsIsKnown) {
  // The sum joins the first chain, which then has to come after the reduction.
  std::string module = fused(
      "%a: tensor<2x4xi32>", wide,
      unary("%0", "%a") +
          "%1 = kernel.reduce sum %a {axis = 1 : i64} : (tensor<2x4xi32>) -> tensor<2x1xi32>\n"
          "%o = kernel.binary add %0, %1 {shift = 0 : i64} : (tensor<2x4xi32>, "
          "tensor<2x1xi32>) -> tensor<2x4xi32>\n" +
          return32);
  EXPECT_EQ(count(module, "kernel.group"), 2) << module;
  EXPECT_LT(module.find("kernel.reduce"), module.find("kernel.unary"));
}

TEST(Group, EndsAtAView) {
  std::string module =
      fused("%a: tensor<2x4xi32>", "tensor<8xi32>",
            unary("%0", "%a") + "%1 = kernel.view %0 : (tensor<2x4xi32>) -> tensor<8xi32>\n"
                                "%o = kernel.unary abs %1 : (tensor<8xi32>) -> "
                                "tensor<8xi32>\nreturn %o : tensor<8xi32>");
  EXPECT_EQ(count(module, "kernel.group"), 2) << module;
}

TEST(Group, UnsignedElementsGoThroughMemory) {
  EXPECT_EQ(count(fused("%a: tensor<2x4xi8>", eight,
                        scales + rescale("%0", "%a", "i8", "i8", "%m, %s", 0, 0, 0, 255) +
                            rescale("%o", "%0", "i8", "i8") + return8),
                  "kernel.group"),
            2);
  EXPECT_EQ(
      count(fused("%a: tensor<2x4xi8>", eight,
                  scales + rescale("%0", "%a", "i8", "i8") +
                      rescale("%o", "%0", "i8", "i8", "%m, %s", 0, 0, -128, 127, true) + return8),
            "kernel.group"),
      2);
}

TEST(Group, CarriesTheNamesOfItsOperators) {
  PassResult result = runPasses("func.func @main(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {\n"
                                "  %0 = kernel.unary abs %a : (tensor<2x4xi32>) -> "
                                "tensor<2x4xi32> loc(\"first\"(\"Abs\"))\n"
                                "  %1 = kernel.unary clz %0 : (tensor<2x4xi32>) -> "
                                "tensor<2x4xi32> loc(\"second\"(\"Clz\"))\n"
                                "  return %1 : tensor<2x4xi32>\n}",
                                {"kernel-fuse"});
  ASSERT_TRUE(result.succeeded) << testing::PrintToString(result.diagnostics);
  EXPECT_THAT(result.withLocations,
              HasSubstr("loc(fused[\"first\"(\"Abs\"), \"second\"(\"Clz\")])"));
}

TEST(Group, UnusedOperationsGo) {
  EXPECT_THAT(fused("%a: tensor<2x4xi32>", wide,
                    unary("%0", "%a") + unary("%1", "%0") + "return %a : tensor<2x4xi32>"),
              Not(HasSubstr("kernel.unary")));
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
