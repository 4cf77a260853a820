// What each TOSA operator becomes, and what has no kernel form.
#include "run_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string selected(const std::string &arguments, const std::string &result,
                     const std::string &operators) {
  PassResult outcome = runPasses(mainOf(arguments, result, operators + "\nreturn %o : " + result),
                                 {"tosa-to-kernel"});
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

std::string rejected(const std::string &arguments, const std::string &result,
                     const std::string &operators) {
  return diagnosticOf(mainOf(arguments, result, operators + "\nreturn %o : " + result),
                      {"tosa-to-kernel"});
}

#define CONSTANT(name, values, type)                                                               \
  name " = \"tosa.const\"() {values = dense<" values "> : tensor<" type ">} : () -> tensor<" type  \
       "> "

TEST(TosaToKernel, Convolution) {
  EXPECT_THAT(
      selected("%x: tensor<2x8x8x4xi8>", "tensor<2x4x7x8xi32>",
               CONSTANT("%w", "1", "8x3x3x4xi8") CONSTANT("%b", "1", "1xi32") CONSTANT(
                   "%zp", "-3",
                   "1xi8") "%o = tosa.conv2d %x, %w, %b, %zp, %z8 {acc_type = i32, dilation = "
                           "array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, "
                           "stride = array<i64: 2, 1>} : (tensor<2x8x8x4xi8>, tensor<8x3x3x4xi8>, "
                           "tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> "
                           "tensor<2x4x7x8xi32>"),
      HasSubstr("kernel.conv2d %arg0, %0, %1 {dilation = array<i64: 1, 1>, input_zp = -3 : i64, "
                "pad = array<i64: 1, 0, 1, 0>, "
                "stride = array<i64: 2, 1>, weight_zp = 0 : i64}"));
}

TEST(TosaToKernel, DepthwiseConvolution) {
  EXPECT_THAT(
      selected("%x: tensor<1x8x8x4xi8>", "tensor<1x6x6x8xi32>",
               CONSTANT("%w", "1", "3x3x4x2xi8") CONSTANT(
                   "%b", "1", "8xi32") "%o = tosa.depthwise_conv2d %x, %w, %b, %z8, %z8 {acc_type "
                                       "= i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, "
                                       "0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, "
                                       "tensor<3x3x4x2xi8>, tensor<8xi32>, tensor<1xi8>, "
                                       "tensor<1xi8>) -> tensor<1x6x6x8xi32>"),
      HasSubstr("kernel.depthwise %arg0, %0, %1 {"));
}

TEST(TosaToKernel, ConvolutionNeedsConstantWeights) {
  EXPECT_EQ(rejected("%x: tensor<1x8x8x4xi8>, %w: tensor<8x1x1x4xi8>", "tensor<1x8x8x8xi32>",
                     "%o = tosa.conv2d %x, %w, %z32, %z8, %z8 {acc_type = i32, dilation = "
                     "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                     "stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<8x1x1x4xi8>, "
                     "tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> "
                     "tensor<1x8x8x8xi32>"),
            "2:6: 'tosa.conv2d' op has no kernel form: its weights are not constant");
}

TEST(TosaToKernel, ConvolutionNeedsConstantZeroPoints) {
  EXPECT_EQ(
      rejected(
          "%x: tensor<1x8x8x4xi8>, %zp: tensor<1xi8>", "tensor<1x8x8x8xi32>",
          CONSTANT(
              "%w", "1",
              "8x1x1x4xi8") "\n"
                            "%o = tosa.conv2d %x, %w, %z32, %zp, %z8 {acc_type = i32, dilation = "
                            "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                            "stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<8x1x1x4xi8>, "
                            "tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> "
                            "tensor<1x8x8x8xi32>"),
      "3:6: 'tosa.conv2d' op has no kernel form: its zero points are not constant");
}

TEST(TosaToKernel, MatrixProduct) {
  EXPECT_THAT(selected("%a: tensor<2x3x4xi8>, %b: tensor<2x4x5xi8>", "tensor<2x3x5xi32>",
                       CONSTANT("%zp", "7",
                                "1xi8") "%o = tosa.matmul %a, %b, %z8, %zp : (tensor<2x3x4xi8>, "
                                        "tensor<2x4x5xi8>, tensor<1xi8>, tensor<1xi8>) -> "
                                        "tensor<2x3x5xi32>"),
              HasSubstr("kernel.matmul %arg0, %arg1 {a_zp = 0 : i64, b_zp = 7 : i64}"));
}

TEST(TosaToKernel, Pools) {
  EXPECT_THAT(selected("%x: tensor<1x8x8x4xi8>", "tensor<1x4x4x4xi8>",
                       "%o = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, "
                       "2>, pad = array<i64: 0, 0, 0, 0>} : "
                       "(tensor<1x8x8x4xi8>) -> tensor<1x4x4x4xi8>"),
              HasSubstr("kernel.max_pool %arg0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, "
                        "0, 0>, stride = array<i64: 2, 2>}"));
  EXPECT_THAT(selected("%x: tensor<1x8x8x4xi8>", "tensor<1x4x4x4xi8>",
                       CONSTANT("%zp", "-9",
                                "1xi8") "%o = tosa.avg_pool2d %x, %zp, %z8 {acc_type = i32, kernel "
                                        "= array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = "
                                        "array<i64: 0, 0, 0, 0>} : (tensor<1x8x8x4xi8>, "
                                        "tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x4xi8>"),
              HasSubstr("kernel.avg_pool %arg0 {input_zp = -9 : i64, kernel = array<i64: 2, 2>, "
                        "output_zp = 0 : i64"));
}

#define RESCALE(x, xType, zps, y, yType, multiplier, scale32, xUnsigned, yUnsigned, mode)          \
  "%o = tosa.rescale %x, %m, %s, " zps " {input_unsigned = " xUnsigned                             \
  ", output_unsigned = " yUnsigned ", per_channel = false, "                                       \
  "rounding_mode = " mode ", scale32 = " scale32 "} : (tensor<" x xType ">, tensor<1x" multiplier  \
  ">, tensor<1xi8>, tensor<1x" xType ">, tensor<1x" yType ">) -> tensor<" y yType ">"

TEST(TosaToKernel, RescaleClampsToTheSignedRange) {
  EXPECT_THAT(selected("%x: tensor<4xi32>", "tensor<4xi8>",
                       CONSTANT("%m", "5", "1xi32") CONSTANT("%s", "30", "1xi8")
                           RESCALE("4x", "i32", "%z32, %z8", "4x", "i8", "i32", "true", "false",
                                   "false", "SINGLE_ROUND")),
              HasSubstr("{hi = 127 : i64, input_unsigned = false, input_zp = 0 : i64, lo = -128 : "
                        "i64, output_zp = 0 : i64}"));
}

TEST(TosaToKernel, RescaleReadsUnsignedZeroPoints) {
  EXPECT_THAT(selected("%x: tensor<4xi8>", "tensor<4xi8>",
                       CONSTANT("%m", "5", "1xi32") CONSTANT("%s", "30", "1xi8") CONSTANT(
                           "%zp", "-6", "1xi8") RESCALE("4x", "i8", "%z8, %zp", "4x", "i8", "i32",
                                                        "true", "false", "true", "SINGLE_ROUND")),
              HasSubstr("{hi = 255 : i64, input_unsigned = false, input_zp = 0 : i64, lo = 0 : "
                        "i64, output_zp = 250 : i64}"));
}

TEST(TosaToKernel, RescaleWidensNarrowMultipliers) {
  EXPECT_THAT(
      selected("%x: tensor<4xi16>", "tensor<4xi8>",
               CONSTANT("%m", "-1", "1xi8") CONSTANT("%n", "0", "1xi16")
                   CONSTANT("%s", "14",
                            "1xi8") "%k = \"tosa.const\"() {values = dense<300> : tensor<1xi16>} : "
                                    "() -> tensor<1xi16>\n"
                                    "%o = tosa.rescale %x, %k, %s, %n, %z8 {input_unsigned = "
                                    "false, output_unsigned = false, per_channel = false, "
                                    "rounding_mode = SINGLE_ROUND, scale32 = false} : "
                                    "(tensor<4xi16>, tensor<1xi16>, tensor<1xi8>, tensor<1xi16>, "
                                    "tensor<1xi8>) -> tensor<4xi8>"),
      AllOf(HasSubstr("dense<300> : tensor<1xi32>"), Not(HasSubstr("dense<300> : tensor<1xi16>"))));
}

TEST(TosaToKernel, RescaleRoundsOnce) {
  EXPECT_EQ(rejected("%x: tensor<4xi32>", "tensor<4xi8>",
                     CONSTANT("%m", "5", "1xi32") CONSTANT("%s", "30", "1xi8") "\n" RESCALE(
                         "4x", "i32", "%z32, %z8", "4x", "i8", "i32", "true", "false", "false",
                         "DOUBLE_ROUND")),
            "3:6: 'tosa.rescale' op has no kernel form: the only supported rounding mode is "
            "SINGLE_ROUND");
}

TEST(TosaToKernel, ClampIsARescaleByOne) {
  EXPECT_THAT(selected("%x: tensor<4xi8>", "tensor<4xi8>",
                       "%o = tosa.clamp %x {min_val = -3 : i8, max_val = 4 : i8} : (tensor<4xi8>) "
                       "-> tensor<4xi8>"),
              AllOf(HasSubstr("dense<1073741824> : tensor<1xi32>"),
                    HasSubstr("dense<30> : tensor<1xi8>"),
                    HasSubstr("{hi = 4 : i64, input_unsigned = false, input_zp = 0 : i64, lo = -3 "
                              ": i64, output_zp = 0 : i64}")));
}

TEST(TosaToKernel, WideningCastIsARescaleByOne) {
  EXPECT_THAT(selected("%x: tensor<4xi8>", "tensor<4xi32>",
                       "%o = tosa.cast %x : (tensor<4xi8>) -> tensor<4xi32>"),
              HasSubstr("{hi = 2147483647 : i64, input_unsigned = false, input_zp = 0 : i64, lo = "
                        "-2147483648 : i64"));
  EXPECT_EQ(rejected("%x: tensor<4xi32>", "tensor<4xi8>",
                     "%o = tosa.cast %x : (tensor<4xi32>) -> tensor<4xi8>"),
            "2:6: 'tosa.cast' op has no kernel form: casting i32 to i8 is not supported yet, only "
            "signed widening");
}

TEST(TosaToKernel, Table) {
  EXPECT_THAT(selected("%x: tensor<2x4xi8>", "tensor<2x4xi8>",
                       CONSTANT("%t", "9", "256xi8") "%o = tosa.table %x, %t : (tensor<2x4xi8>, "
                                                     "tensor<256xi8>) -> tensor<2x4xi8>"),
              HasSubstr("kernel.table %arg0, %0"));
  EXPECT_EQ(rejected("%x: tensor<4xi8>, %t: tensor<256xi8>", "tensor<4xi8>",
                     "%o = tosa.table %x, %t : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi8>"),
            "2:6: 'tosa.table' op has no kernel form: its table is not constant");
}

TEST(TosaToKernel, BinaryOperatorsBroadcast) {
  for (auto [name, function] :
       {std::pair("add", "add"), std::pair("sub", "sub"), std::pair("maximum", "max"),
        std::pair("minimum", "min"), std::pair("logical_left_shift", "shl"),
        std::pair("logical_right_shift", "lsr")})
    EXPECT_THAT(
        selected("%a: tensor<2x1xi32>, %b: tensor<1x3xi32>", "tensor<2x3xi32>",
                 std::string("%o = tosa.") + name +
                     " %a, %b : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>"),
        HasSubstr(std::string("kernel.binary ") + function + " %arg0, %arg1 {shift = 0 : i64}"));
}

TEST(TosaToKernel, MulTakesNarrowOperandsAndAShift) {
  EXPECT_THAT(selected("%a: tensor<2xi16>", "tensor<2xi32>",
                       "%o = tosa.mul %a, %a, %z8 : (tensor<2xi16>, tensor<2xi16>, tensor<1xi8>) "
                       "-> tensor<2xi32>"),
              HasSubstr("kernel.binary mul %arg0, %arg0 {shift = 0 : i64} : (tensor<2xi16>, "
                        "tensor<2xi16>) -> tensor<2xi32>"));
  EXPECT_THAT(
      selected("%a: tensor<2xi32>", "tensor<2xi32>",
               CONSTANT("%s", "30", "1xi8") "%o = tosa.mul %a, %a, %s : (tensor<2xi32>, "
                                            "tensor<2xi32>, tensor<1xi8>) -> tensor<2xi32>"),
      HasSubstr("{shift = 30 : i64}"));
}

TEST(TosaToKernel, ArithmeticRightShiftRoundsOrNot) {
  for (auto [round, function] : {std::pair("true", "asr.round"), std::pair("false", "asr")})
    EXPECT_THAT(selected("%a: tensor<2xi32>", "tensor<2xi32>",
                         std::string("%o = tosa.arithmetic_right_shift %a, %a {round = ") + round +
                             "} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>"),
                HasSubstr(std::string("kernel.binary ") + function + " %arg0, %arg0"));
}

TEST(TosaToKernel, NarrowArithmeticIsNotSupported) {
  EXPECT_EQ(
      rejected(
          "%a: tensor<2xi8>", "tensor<2xi8>",
          "%o = tosa.logical_left_shift %a, %a : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>"),
      "2:6: 'tosa.logical_left_shift' op has no kernel form: operands of i8 are not supported yet, "
      "only i32");
}

TEST(TosaToKernel, UnaryOperatorsAndReductions) {
  EXPECT_THAT(selected("%a: tensor<2xi32>", "tensor<2xi32>",
                       "%o = tosa.clz %a : (tensor<2xi32>) -> tensor<2xi32>"),
              HasSubstr("kernel.unary clz %arg0"));
  EXPECT_THAT(
      selected("%a: tensor<2x3xi32>", "tensor<2x1xi32>",
               "%o = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<2x3xi32>) -> tensor<2x1xi32>"),
      HasSubstr("kernel.reduce sum %arg0 {axis = 1 : i64}"));
  EXPECT_THAT(
      selected("%a: tensor<2x3xi8>", "tensor<1x3xi8>",
               "%o = tosa.reduce_max %a {axis = 0 : i32} : (tensor<2x3xi8>) -> tensor<1x3xi8>"),
      HasSubstr("kernel.reduce max %arg0 {axis = 0 : i64}"));
  EXPECT_THAT(
      selected("%a: tensor<2xi32>", "tensor<2xi32>",
               "%o = tosa.negate %a, %z32, %z32 : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>) -> "
               "tensor<2xi32>"),
      HasSubstr("kernel.binary sub %0, %arg0 {shift = 0 : i64} : (tensor<1xi32>, tensor<2xi32>)"));
}

// Instructions reduce 8 and 32 bits.
TEST(TosaToKernel, ReductionsOf16BitsAreOf32) {
  const std::string module =
      selected("%a: tensor<2x3xi16>", "tensor<1x3xi16>",
               "%o = tosa.reduce_max %a {axis = 0 : i32} : (tensor<2x3xi16>) -> tensor<1x3xi16>");
  EXPECT_THAT(module, HasSubstr("kernel.reduce max %2 {axis = 0 : i64} : (tensor<2x3xi32>) -> "
                                "tensor<1x3xi32>"));
}

TEST(TosaToKernel, UnknownOperatorsAreNamed) {
  EXPECT_EQ(rejected("%a: tensor<2xi32>", "tensor<2xi32>",
                     "%o = tosa.bitwise_not %a : (tensor<2xi32>) -> tensor<2xi32>"),
            "2:6: 'tosa.bitwise_not' op has no kernel form: the operator is not supported yet");
}

TEST(TosaToKernel, ReshapeIsAView) {
  EXPECT_THAT(
      selected("%a: tensor<2x3xi32>", "tensor<2x1xi32>",
               "%s = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> "
               "!tosa.shape<2>\n"
               "%r = tosa.reshape %a, %s : (tensor<2x3xi32>, !tosa.shape<2>) -> tensor<3x2xi32>\n"
               "%t = tosa.transpose %r {perms = array<i32: 1, 0>} : (tensor<3x2xi32>) -> "
               "tensor<2x3xi32>\n"
               "%o = tosa.reduce_sum %t {axis = 1 : i32} : (tensor<2x3xi32>) -> tensor<2x1xi32>"),
      AllOf(HasSubstr("kernel.view %arg0 : (tensor<2x3xi32>) -> tensor<3x2xi32>"),
            Not(HasSubstr("const_shape"))));
}

constexpr const char *copyOfTwo = "{regions = [{result_offset = 0 : i64, result_strides = "
                                  "array<i64: 1>, sizes = array<i64: 2>, source = 0 : "
                                  "i64, source_offset = 0 : i64, source_strides = array<i64: 1>}]}";

TEST(TosaToKernel, ResultsHaveMemoryOfTheirOwn) {
  EXPECT_THAT(selected("%a: tensor<2xi8>", "tensor<2xi8>",
                       "%o = tosa.identity %a : (tensor<2xi8>) -> tensor<2xi8>"),
              HasSubstr(std::string("%0 = kernel.assemble %arg0 ") + copyOfTwo +
                        " : (tensor<2xi8>) -> tensor<2xi8>\n    return %0"));
  EXPECT_THAT(selected("", "tensor<2xi8>", CONSTANT("%o", "5", "2xi8")),
              HasSubstr("%1 = kernel.assemble %0"));
}

TEST(TosaToKernel, AResultGivenTwiceIsCopied) {
  PassResult result =
      runPasses("func.func @main(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {\n"
                "  %o = tosa.abs %a : (tensor<2xi32>) -> tensor<2xi32>\n  return %o, %o : "
                "tensor<2xi32>, tensor<2xi32>\n}",
                {"tosa-to-kernel"});
  ASSERT_TRUE(result.succeeded) << testing::PrintToString(result.diagnostics);
  EXPECT_THAT(result.module, HasSubstr("%1 = kernel.assemble %0"));
  EXPECT_THAT(result.module, HasSubstr("return %0, %1"));
}

TEST(TosaToKernel, AScalarIsOneElement) {
  EXPECT_THAT(selected("%a: tensor<i32>", "tensor<i32>",
                       "%o = tosa.identity %a : (tensor<i32>) -> tensor<i32>"),
              HasSubstr("sizes = array<i64: 1>"));
}

} // namespace
} // namespace tilewright
