// Every rule of a kernel operation: the operation that breaks it, and the message at its place.
#include "run_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

struct Broken {
  const char *name;
  const char *arguments;
  const char *operation; // stands on line 2, column 1
  const char *message;
};

void PrintTo(const Broken &broken, std::ostream *out) { *out << broken.name; }

class KernelVerify : public testing::TestWithParam<Broken> {};

TEST_P(KernelVerify, ReportsTheBrokenRule) {
  const Broken &broken = GetParam();
  std::string text = mainOf(broken.arguments, "", std::string(broken.operation) + "\nreturn");
  EXPECT_EQ(diagnosticOf(text, {}), "2:" + std::string(broken.message));
}

std::string nameOf(const testing::TestParamInfo<Broken> &info) { return info.param.name; }

#define CONV_ATTRIBUTES(stride, pad, dilation, zp)                                                 \
  "{stride = array<i64: " stride ">, pad = array<i64: " pad ">, dilation = array<i64: " dilation   \
  ">, input_zp = " zp " : i64, weight_zp = 0 : i64}"
#define CONV_ARGUMENTS(x, w, b) "%x: tensor<" x "xi8>, %w: tensor<" w "xi8>, %b: tensor<" b "xi32>"
#define CONV(op, x, w, b, attributes, result)                                                      \
  "%0 = kernel." op " %x, %w, %b " attributes " : (tensor<" x "xi8>, tensor<" w "xi8>, tensor<" b  \
  "xi32>) -> tensor<" result "xi32>"
#define PLAIN CONV_ATTRIBUTES("1, 1", "0, 0, 0, 0", "1, 1", "0")

INSTANTIATE_TEST_SUITE_P(
    Convolution, KernelVerify,
    testing::Values(
        Broken{"dynamic", CONV_ARGUMENTS("1x?x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x?x8x4", "8x3x3x4", "8", PLAIN, "1x6x6x8"),
               "6: 'kernel.conv2d' op operands and results must have static shapes of 1 to "
               "2147483647 elements"},
        Broken{"inputRank", CONV_ARGUMENTS("8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "8x8x4", "8x3x3x4", "8", PLAIN, "1x6x6x8"),
               "6: 'kernel.conv2d' op x must have rank 4, not 3"},
        Broken{"weightRank", CONV_ARGUMENTS("1x8x8x4", "8x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x4", "8", PLAIN, "1x6x6x8"),
               "6: 'kernel.conv2d' op weight must have rank 4, not 3"},
        Broken{"inputChannels", CONV_ARGUMENTS("1x8x8x4", "8x3x3x5", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x5", "8", PLAIN, "1x6x6x8"),
               "6: 'kernel.conv2d' op weight is for 5 input channels, but x has 4"},
        Broken{"pixels", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8",
                    "{pixels = 2 : i64, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                    "dilation = array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = 0 : i64}",
                    "1x6x6x8"),
               "6: 'kernel.conv2d' op has no 2 pixels beside each other"},
        Broken{"biasCount", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "7"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "7", PLAIN, "1x6x6x8"),
               "6: 'kernel.conv2d' op bias must have 1 or 8 elements, not 7"},
        Broken{"resultShape", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8", PLAIN, "1x6x5x8"),
               "6: 'kernel.conv2d' op result has shape [1, 6, 5, 8], but its operands give [1, 6, "
               "6, 8]"},
        Broken{"kernelTooLarge", CONV_ARGUMENTS("1x2x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x2x8x4", "8x3x3x4", "8", PLAIN, "1x1x6x8"),
               "6: 'kernel.conv2d' op result has shape [1, 1, 6, 8], but its operands give [1, 0, "
               "6, 8]"},
        Broken{"stride", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8",
                    CONV_ATTRIBUTES("0, 1", "0, 0, 0, 0", "1, 1", "0"), "1x6x6x8"),
               "6: 'kernel.conv2d' op stride must have 2 elements, each from 1 to 2147483647"},
        Broken{"pad", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8",
                    CONV_ATTRIBUTES("1, 1", "0, 0, 0", "1, 1", "0"), "1x6x6x8"),
               "6: 'kernel.conv2d' op pad must have 4 elements, each from 0 to 2147483647"},
        Broken{"dilation", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8",
                    CONV_ATTRIBUTES("1, 1", "0, 0, 0, 0", "1, 9223372036854775807", "0"),
                    "1x6x6x8"),
               "6: 'kernel.conv2d' op dilation must have 2 elements, each from 1 to 2147483647"},
        Broken{"zeroPoint", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8",
                    CONV_ATTRIBUTES("1, 1", "0, 0, 0, 0", "1, 1", "128"), "1x6x6x8"),
               "6: 'kernel.conv2d' op input_zp must be an 8-bit value, not 128"},
        Broken{"depthwiseChannels", CONV_ARGUMENTS("1x8x8x4", "3x3x5x2", "1"),
               CONV("depthwise", "1x8x8x4", "3x3x5x2", "1", PLAIN, "1x6x6x8"),
               "6: 'kernel.depthwise' op weight is for 5 input channels, but x has 4"},
        Broken{"depthwiseResult", CONV_ARGUMENTS("1x8x8x4", "3x3x4x2", "1"),
               CONV("depthwise", "1x8x8x4", "3x3x4x2", "1", PLAIN, "1x6x6x4"),
               "6: 'kernel.depthwise' op result has shape [1, 6, 6, 4], but its operands give [1, "
               "6, 6, 8]"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Others, KernelVerify,
    testing::Values(
        Broken{
            "product", "%a: tensor<1x2x3xi8>, %b: tensor<1x4x5xi8>",
            "%0 = kernel.matmul %a, %b {a_zp = 0 : i64, b_zp = 0 : i64} : (tensor<1x2x3xi8>, "
            "tensor<1x4x5xi8>) -> tensor<1x2x5xi32>",
            "6: 'kernel.matmul' op a of shape [1, 2, 3] and b of shape [1, 4, 5] have no product"},
        Broken{"tooLarge", "%a: tensor<65536x65536xi8>",
               "%0 = kernel.view %a : (tensor<65536x65536xi8>) -> tensor<65536x65536xi8>",
               "6: 'kernel.view' op operands and results must have static shapes of 1 to "
               "2147483647 elements"},
        Broken{"weightConstant", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"),
               CONV("conv2d", "1x8x8x4", "8x3x3x4", "8", PLAIN, "1x6x6x8"),
               "6: 'kernel.conv2d' op weight must be a constant"},
        Broken{"biasConstant", "%x: tensor<1x8x8x1xi8>, %b: tensor<1xi32>",
               "%w = \"tosa.const\"() {values = dense<0> : tensor<1x1x1x1xi8>} : () -> "
               "tensor<1x1x1x1xi8> " CONV("conv2d", "1x8x8x1", "1x1x1x1", "1", PLAIN, "1x8x8x1"),
               "94: 'kernel.conv2d' op bias must be a constant"},
        Broken{"multiplierConstant", "%x: tensor<2xi32>, %m: tensor<1xi32>",
               "%0 = kernel.rescale %x, %m, %z8 {input_zp = 0 : i64, output_zp = 0 : i64, lo = 0 : "
               "i64, hi = 2 : i64, "
               "input_unsigned = false} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi8>) -> "
               "tensor<2xi8>",
               "6: 'kernel.rescale' op multiplier must be a constant"},
        Broken{"shiftConstant", "%x: tensor<2xi32>, %s: tensor<1xi8>",
               "%0 = kernel.rescale %x, %z32, %s {input_zp = 0 : i64, output_zp = 0 : i64, lo = 0 "
               ": i64, hi = 2 : i64, "
               "input_unsigned = false} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi8>) -> "
               "tensor<2xi8>",
               "6: 'kernel.rescale' op shift must be a constant"},
        Broken{"tableConstant", "%x: tensor<2xi8>, %t: tensor<256xi8>",
               "%0 = kernel.table %x, %t : (tensor<2xi8>, tensor<256xi8>) -> tensor<2xi8>",
               "6: 'kernel.table' op table must be a constant"},
        Broken{"productRank", "%a: tensor<2x3xi8>, %b: tensor<1x3x5xi8>",
               "%0 = kernel.matmul %a, %b {a_zp = 0 : i64, b_zp = 0 : i64} : (tensor<2x3xi8>, "
               "tensor<1x3x5xi8>) -> tensor<1x2x5xi32>",
               "6: 'kernel.matmul' op a must have rank 3, not 2"},
        Broken{"pool", "%x: tensor<1x8x8x4xi8>",
               "%0 = kernel.max_pool %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad "
               "= array<i64: 0, 0, 0, 0>} : "
               "(tensor<1x8x8x4xi8>) -> tensor<1x4x4x5xi8>",
               "6: 'kernel.max_pool' op result has shape [1, 4, 4, 5], but its operands give [1, "
               "4, 4, 4]"},
        Broken{"poolZeroPoint", "%x: tensor<1x8x8x4xi8>",
               "%0 = kernel.avg_pool %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad "
               "= array<i64: 0, 0, 0, 0>, "
               "input_zp = 0 : i64, output_zp = -129 : i64} : (tensor<1x8x8x4xi8>) -> "
               "tensor<1x4x4x4xi8>",
               "6: 'kernel.avg_pool' op output_zp must be an 8-bit value, not -129"},
        Broken{"rescaleCount", "%x: tensor<2x4xi32>, %m: tensor<3xi32>, %s: tensor<3xi8>",
               "%0 = kernel.rescale %x, %m, %s {input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 "
               ": i64, hi = 127 : i64, "
               "input_unsigned = false} : (tensor<2x4xi32>, tensor<3xi32>, tensor<3xi8>) -> "
               "tensor<2x4xi8>",
               "6: 'kernel.rescale' op multiplier and shift must both have 1 or 4 elements, not 3 "
               "and 3"},
        Broken{"rescaleRange", "%x: tensor<2x4xi32>, %m: tensor<1xi32>, %s: tensor<1xi8>",
               "%0 = kernel.rescale %x, %m, %s {input_zp = 0 : i64, output_zp = 0 : i64, lo = 3 : "
               "i64, hi = 2 : i64, "
               "input_unsigned = false} : (tensor<2x4xi32>, tensor<1xi32>, tensor<1xi8>) -> "
               "tensor<2x4xi8>",
               "6: 'kernel.rescale' op lo 3 and hi 2 must be an ascending range of 8-bit values"},
        Broken{
            "rescaleBool", "%x: tensor<2xi1>, %m: tensor<1xi32>, %s: tensor<1xi8>",
            "%0 = kernel.rescale %x, %m, %s {input_zp = 0 : i64, output_zp = 0 : i64, lo = 0 : "
            "i64, hi = 2 : i64, "
            "input_unsigned = false} : (tensor<2xi1>, tensor<1xi32>, tensor<1xi8>) -> tensor<2xi8>",
            "6: 'kernel.rescale' op elements must have 8, 16 or 32 bits"},
        Broken{"tableSize", "%x: tensor<2xi8>, %t: tensor<255xi8>",
               "%0 = kernel.table %x, %t : (tensor<2xi8>, tensor<255xi8>) -> tensor<2xi8>",
               "6: 'kernel.table' op must map i8 through 256 entries of i8 to i8, or i16 through "
               "513 entries of i16 to i32"},
        Broken{"binaryFunction", "%a: tensor<2xi32>",
               "%0 = kernel.binary xor %a, %a {shift = 0 : i64} : (tensor<2xi32>, "
               "tensor<2xi32>) -> tensor<2xi32>",
               "20: custom op 'kernel.binary' function must be one of add, sub, mul, max, min, "
               "shl, asr, asr.round, lsr, not "
               "'xor'"},
        Broken{"binaryShift", "%a: tensor<2xi32>",
               "%0 = kernel.binary add %a, %a {shift = 1 : i64} : (tensor<2xi32>, "
               "tensor<2xi32>) -> tensor<2xi32>",
               "6: 'kernel.binary' op shift must be 0, or at most 63 for mul, not 1"},
        Broken{"binaryRank", "%a: tensor<2xi32>, %b: tensor<1x2xi32>",
               "%0 = kernel.binary add %a, %b {shift = 0 : i64} : (tensor<2xi32>, "
               "tensor<1x2xi32>) -> tensor<1x2xi32>",
               "6: 'kernel.binary' op operands must have equal rank, not 1 and 2"},
        Broken{"binaryBroadcast", "%a: tensor<2xi32>, %b: tensor<3xi32>",
               "%0 = kernel.binary add %a, %b {shift = 0 : i64} : (tensor<2xi32>, "
               "tensor<3xi32>) -> tensor<3xi32>",
               "6: 'kernel.binary' op operands of shapes [2] and [3] do not broadcast"},
        Broken{"unaryFunction", "%a: tensor<2xi32>",
               "%0 = kernel.unary not %a : (tensor<2xi32>) -> tensor<2xi32>",
               "19: custom op 'kernel.unary' function must be one of clz, abs, not 'not'"},
        Broken{"addScale", "%a: tensor<2xi8>",
               "%0 = kernel.add_i8 %a, %a {a_zp = 0 : i64, a_multiplier = 1 : i64, a_shift = 1 : "
               "i64, b_zp = 0 : i64, b_multiplier = 1 : "
               "i64, b_shift = 2 : i64, multiplier = 1 : i64, shift = 2 : i64, output_zp = 0 : "
               "i64, lo = -128 : i64, hi = 127 : i64} : "
               "(tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>",
               "6: 'kernel.add_i8' op a needs a non-negative 32-bit multiplier and a shift from 2 "
               "to 62, not 1 and 1"},
        Broken{"mulScale", "%a: tensor<2xi8>",
               "%0 = kernel.mul_i8 %a, %a {a_zp = 0 : i64, b_zp = 0 : i64, multiplier = -1 : i64, "
               "shift = 2 : i64, output_zp = 0 : i64, "
               "lo = -128 : i64, hi = 127 : i64} : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>",
               "6: 'kernel.mul_i8' op result needs a non-negative 32-bit multiplier and a shift "
               "from 2 to 62, not -1 and 2"},
        Broken{"reduceFunction", "%a: tensor<2xi32>",
               "%0 = kernel.reduce mean %a {axis = 0 : i64} : (tensor<2xi32>) -> tensor<1xi32>",
               "20: custom op 'kernel.reduce' function must be one of sum, max, min, not 'mean'"},
        Broken{"reduceAxis", "%a: tensor<2xi32>",
               "%0 = kernel.reduce sum %a {axis = 1 : i64} : (tensor<2xi32>) -> tensor<1xi32>",
               "6: 'kernel.reduce' op axis 1 is not an axis of x, which has rank 1"},
        Broken{"reduceElement", "%a: tensor<2xi8>",
               "%0 = kernel.reduce sum %a {axis = 0 : i64} : (tensor<2xi8>) -> tensor<1xi8>",
               "6: 'kernel.reduce' op elements must have 32 bits (or 8 for max) in x and in the "
               "result alike"},
        Broken{"view", "%a: tensor<2xi8>", "%0 = kernel.view %a : (tensor<2xi8>) -> tensor<3xi8>",
               "6: 'kernel.view' op cannot show 'tensor<2xi8>' as 'tensor<3xi8>'"}),
    nameOf);

#define REGION(source, from, to, size, step)                                                       \
  "{source = " source " : i64, source_offset = " from " : i64, result_offset = " to                \
  " : i64, sizes = array<i64: " size ">, source_strides = array<i64: " step                        \
  ">, result_strides = array<i64: 1>}"
#define ASSEMBLE(attributes)                                                                       \
  "%0 = kernel.assemble %a {" attributes "} : (tensor<4xi8>) -> tensor<6xi8>"

INSTANTIATE_TEST_SUITE_P(
    Assemble, KernelVerify,
    testing::Values(
        Broken{"elements", "%a: tensor<4xi16>",
               "%0 = kernel.assemble %a {regions = []} : (tensor<4xi16>) -> tensor<6xi8>",
               "6: 'kernel.assemble' op sources and result must have one element type"},
        Broken{"fields", "%a: tensor<4xi8>", ASSEMBLE("regions = [{source = 0 : i64}]"),
               "6: 'kernel.assemble' op region 0 must have source, source_offset, result_offset "
               "(i64) and sizes, source_strides, "
               "result_strides (arrays of one length)"},
        Broken{"source", "%a: tensor<4xi8>",
               ASSEMBLE("regions = [" REGION("1", "0", "0", "4", "1") "]"),
               "6: 'kernel.assemble' op region 0 names source 1 of 1"},
        Broken{"size", "%a: tensor<4xi8>",
               ASSEMBLE("regions = [" REGION("0", "0", "0", "0", "1") "]"),
               "6: 'kernel.assemble' op region 0 must have sizes of at least 1"},
        Broken{"sourceBounds", "%a: tensor<4xi8>",
               ASSEMBLE("regions = [" REGION("0", "2", "0", "4", "-1") "]"),
               "6: 'kernel.assemble' op region 0 leaves its source"},
        Broken{"resultBounds", "%a: tensor<4xi8>",
               ASSEMBLE("regions = [" REGION("0", "0", "3", "4", "1") "]"),
               "6: 'kernel.assemble' op region 0 leaves the result"},
        Broken{"overlap", "%a: tensor<4xi8>",
               ASSEMBLE("regions = [" REGION("0", "0", "0", "4", "1") ", " REGION("0", "0", "2",
                                                                                  "3", "1") "]"),
               "6: 'kernel.assemble' op region 1 moves more elements than the result has left"},
        Broken{
            "uncovered", "%a: tensor<4xi8>",
            ASSEMBLE("regions = [" REGION("0", "0", "0", "4", "1") "]"),
            "6: 'kernel.assemble' op regions do not cover the result, and there is no fill value"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Group, KernelVerify,
    testing::Values(
        Broken{"empty", "%a: tensor<4xi32>",
               "%0 = kernel.group { kernel.yield %a : tensor<4xi32> } : tensor<4xi32>",
               "6: 'kernel.group' op must hold at least one operation and end with kernel.yield"},
        Broken{"foreign", "%a: tensor<4xi32>",
               "%0 = kernel.group { %1 = kernel.view %a : (tensor<4xi32>) -> tensor<4xi32> "
               "kernel.yield %1 : tensor<4xi32> } : tensor<4xi32>",
               "6: 'kernel.group' op cannot hold 'kernel.view'"},
        Broken{"disconnected", "%a: tensor<4xi32>",
               "%0 = kernel.group { %1 = kernel.unary abs %a : (tensor<4xi32>) -> "
               "tensor<4xi32> %2 = kernel.unary clz %a : "
               "(tensor<4xi32>) -> tensor<4xi32> kernel.yield %2 : tensor<4xi32> } : tensor<4xi32>",
               "6: 'kernel.group' op holds 'kernel.unary', which nothing reads"},
        Broken{"yieldType", "%a: tensor<4xi32>",
               "%0 = kernel.group { %1 = kernel.unary abs %a : (tensor<4xi32>) -> "
               "tensor<4xi32> kernel.yield %1 : tensor<4xi32> } : "
               "tensor<2xi32>",
               "81: 'kernel.yield' op gives 'tensor<4xi32>' to a group of 'tensor<2xi32>'"}),
    nameOf);

} // namespace
} // namespace tilewright
