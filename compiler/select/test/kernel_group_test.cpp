// Groups of kernel-fuse: what is computed together on a tile, and where a group ends.
#include "kernel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

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

// Rescales of an image's elements.
std::string ofImages(std::string text) {
  for (size_t at = text.find("<2x4x"); at != std::string::npos; at = text.find("<2x4x"))
    text.replace(at, 5, "<1x2x2x4x");
  return text;
}

// Two convolutions, of which the first one's sums become what `between` makes of %0, as %p, and the
// second one's are %q; then their sum.
std::string sumOfTwo(const std::string &between) {
  const std::string image = "tensor<1x2x2x4xi8>", sums = "tensor<1x2x2x4xi32>";
  std::string text = scales + convolution("%0", "%a") + between +
                     "%q = kernel.conv2d %b, %w, %z32 {stride = array<i64: 1, 1>, pad = "
                     "array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, input_zp = 0 : i64, "
                     "weight_zp = 0 : i64} : (tensor<1x2x2x4xi8>, tensor<4x1x1x4xi8>, "
                     "tensor<1xi32>) -> tensor<1x2x2x4xi32>\n"
                     "%o = kernel.binary add %p, %q {shift = 0 : i64} : (tensor<1x2x2x4xi32>, "
                     "tensor<1x2x2x4xi32>) -> tensor<1x2x2x4xi32>\nreturn %o : " +
                     sums;
  return fused("%a: " + image + ", %b: " + image, sums, ofImages(text));
}

// The operations of the first group, in order.
std::string firstGroup(const std::string &module) {
  const size_t begin = module.find("kernel.group");
  return module.substr(begin, module.find("kernel.yield") - begin);
}

TEST(Group, HandsOverWhatWouldCrossInMoreBytes) {
  const std::string module = sumOfTwo(rescale("%1", "%0", "i32", "i8") + widen("%p", "%1"));
  EXPECT_EQ(count(module, "kernel.group"), 2) << module;
  EXPECT_EQ(count(firstGroup(module), "kernel.rescale"), 1) << module;
}

TEST(Group, KeepsWhatCrossesInNoMoreBytes) {
  const std::string module =
      sumOfTwo(rescale("%1", "%0", "i32", "i32") + rescale("%p", "%1", "i32", "i32"));
  EXPECT_EQ(count(firstGroup(module), "kernel.rescale"), 2) << module;
}

TEST(Group, OfBothOperandsTakesThemInEightBits) {
  const std::string module =
      fused(two8, eight,
            scales + rescale("%0", "%a", "i8", "i8") + rescale("%1", "%b", "i8", "i8") +
                "%2 = kernel.binary mul %0, %1 {shift = 0 : i64} : (tensor<2x4xi8>, "
                "tensor<2x4xi8>) -> tensor<2x4xi32>\n" +
                rescale("%o", "%2", "i32", "i8") + return8);
  EXPECT_EQ(count(module, "kernel.group"), 1) << module;
}

// A convolution's result of 8 bits is brought to 32 as %2, and its rows about their sums are %o.
// `more`: operations behind it.
std::string widened(const std::string &more, const std::string &results) {
  return fused("%a: tensor<1x2x2x4xi8>", results,
               scales + convolution("%0", "%a") +
                   ofImages(rescale("%1", "%0", "i32", "i8") + widen("%2", "%1")) +
                   "%3 = kernel.reduce sum %2 {axis = 3 : i64} : (tensor<1x2x2x4xi32>) -> "
                   "tensor<1x2x2x1xi32>\n"
                   "%o = kernel.binary sub %2, %3 {shift = 0 : i64} : (tensor<1x2x2x4xi32>, "
                   "tensor<1x2x2x1xi32>) -> tensor<1x2x2x4xi32>\n" +
                   more);
}

TEST(Group, OfAConvolutionLeavesItsResultToReadersThatWidenItOnChip) {
  const std::string sums = "tensor<1x2x2x4xi32>", module = widened("return %o : " + sums, sums);
  EXPECT_EQ(count(firstGroup(module), "kernel.rescale"), 1) << module;
  EXPECT_EQ(count(module, "kernel.group"), 4) << module;
}

TEST(Group, OfAConvolutionWidensWhatIsReturned) {
  const std::string two = "tensor<1x2x2x4xi32>, tensor<1x2x2x4xi32>",
                    module = widened("return %o, %2 : " + two, two);
  EXPECT_EQ(count(firstGroup(module), "kernel.rescale"), 2) << module;
}

TEST(Group, OfAConvolutionWidensWhatAMoveReads) {
  const std::string
      two = "tensor<1x2x2x4xi32>, tensor<1x2x2x4xi32>",
      module = widened(
          "%4 = kernel.assemble %2 {regions = [{result_offset = 0 : i64, result_strides = "
          "array<i64: 1>, sizes = array<i64: 16>, source = 0 : i64, source_offset = 15 : i64, "
          "source_strides = array<i64: -1>}]} : (tensor<1x2x2x4xi32>) -> tensor<1x2x2x4xi32>\n"
          "return %o, %4 : " +
              two,
          two);
  EXPECT_EQ(count(firstGroup(module), "kernel.rescale"), 2) << module;
}

// A convolution's result, narrowed and multiplied, plus what a move makes of one pixel.
std::string withMoved(bool repeats) {
  const std::string wide4 = "tensor<1x2x2x4xi32>", narrow4 = "tensor<1x2x2x4xi8>";
  const std::string scale = "{input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 : i64, hi = 127 : "
                            "i64, input_unsigned = false}",
                    widen = "{input_zp = 0 : i64, output_zp = 0 : i64, lo = -2147483648 : i64, hi "
                            "= 2147483647 : i64, input_unsigned = false}",
                    parameters = "%one, %z8 ", types = ", tensor<1xi32>, tensor<1xi8>) -> ";
  const std::string source = repeats ? "0" : "4";
  return fused(
      "%a: " + narrow4 + ", %f: tensor<1x1x1x4xi32>, %t: " + narrow4, wide4,
      "%one = \"tosa.const\"() {values = dense<5> : tensor<1xi32>} : () -> tensor<1xi32>\n" +
          convolution("%0", "%a") + "%1 = kernel.rescale %0, " + parameters + scale + " : (" +
          wide4 + types + narrow4 + "\n%2 = kernel.rescale %1, " + parameters + widen + " : (" +
          narrow4 + types + wide4 + "\n" + "%3 = kernel.binary mul %2, %f {shift = 0 : i64} : (" +
          wide4 + ", tensor<1x1x1x4xi32>) -> " + wide4 + "\n" +
          "%4 = kernel.assemble %t {regions = [{source = 0 : i64, source_offset = 0 : i64, "
          "result_offset = 0 : i64, sizes = array<i64: 4, 4>, source_strides = array<i64: " +
          source + ", 1>, result_strides = array<i64: 4, 1>}]} : (" + narrow4 + ") -> " + narrow4 +
          "\n%5 = kernel.rescale %4, " + parameters + widen + " : (" + narrow4 + types + wide4 +
          "\n%o = kernel.binary add %3, %5 {shift = 0 : i64} : (" + wide4 + ", " + wide4 + ") -> " +
          wide4 + "\nreturn %o : " + wide4);
}

// Both are in memory in 8 bits, and the sum reads the one pixel.
TEST(Group, OfWhatAMoveRepeatsIsBehindAProductThatIsMultiplied) {
  const std::string module = withMoved(true);
  EXPECT_EQ(count(module, "kernel.group"), 3) << module;
  EXPECT_EQ(count(firstGroup(module), "kernel.binary"), 0) << module;
}

TEST(Group, OfAProductTakesWhatAMovePutsElsewhere) {
  const std::string module = withMoved(false);
  EXPECT_EQ(count(module, "kernel.group"), 2) << module;
}

TEST(Group, StandsWhereAllItReadsIsKnown) {
  // The sum joins the first sequence, which then has to come after the reduction.
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

// Its operands would wait as long, and they are more.
TEST(Group, OfActivationsAProductDoesNotWaitForAnotherOne) {
  const std::string product = "{a_zp = 0 : i64, b_zp = 0 : i64} : (tensor<1x2x8xi8>, "
                              "tensor<1x8x4xi8>) -> tensor<1x2x4xi32>\n",
                    type = "tensor<1x2x4xi32>";
  const std::string module =
      fused("%a: tensor<1x2x8xi8>, %b: tensor<1x8x4xi8>, %c: tensor<1x8x4xi8>", type,
            "%0 = kernel.matmul %a, %b " + product + "%1 = kernel.matmul %a, %c " + product +
                "%2 = kernel.reduce max %1 {axis = 2 : i64} : (" + type +
                ") -> tensor<1x2x1xi32>\n"
                "%o = kernel.binary add %0, %2 {shift = 0 : i64} : (" +
                type + ", tensor<1x2x1xi32>) -> " + type + "\nreturn %o : " + type);
  EXPECT_EQ(count(firstGroup(module), "kernel.matmul"), 1) << module;
  EXPECT_EQ(count(firstGroup(module), "kernel.binary"), 0) << module;
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

} // namespace
} // namespace tilewright
