// Models that MLIR's verifier accepts and TOSA 1.0 or the compiler does not: one diagnostic, at the
// operator.
#include "run_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

// One operator on line 2; what it breaks.
struct Bad {
  const char *name;
  const char *arguments;
  const char *result; // element type and shape of %o
  const char *operators;
  const char *diagnostic;
};

void PrintTo(const Bad &bad, std::ostream *out) { *out << bad.name; }

class TosaCheck : public testing::TestWithParam<Bad> {};

TEST_P(TosaCheck, RejectsAtTheOperator) {
  const Bad &bad = GetParam();
  std::string type = std::string("tensor<") + bad.result + ">";
  std::string text =
      mainOf(bad.arguments, type, std::string(bad.operators) + "\nreturn %o : " + type);
  EXPECT_EQ(diagnosticOf(text, {"tosa-check"}), bad.diagnostic);
  EXPECT_EQ(diagnosticOf(text, {"tosa-to-kernel", "kernel-fuse"}), bad.diagnostic);
}

std::string nameOf(const testing::TestParamInfo<Bad> &info) { return info.param.name; }

#define CONV(op, x, w, b, pad, dilation, result)                                                   \
  "%o = tosa." op " %x, %w, %b, %z8, %z8 {acc_type = i32, dilation = array<i64: " dilation         \
  ", 1>, pad = array<i64: " pad ", 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<" x              \
  "xi8>, tensor<" w "xi8>, tensor<" b "xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<" result       \
  "xi32>"
#define CONV_ARGUMENTS(x, w, b) "%x: tensor<" x "xi8>, %w: tensor<" w "xi8>, %b: tensor<" b "xi32>"
#define POOL(x, kernel, result)                                                                    \
  "%o = tosa.max_pool2d %x {kernel = array<i64: " kernel                                           \
  ">, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>} : (tensor<" x                       \
  "xi8>) -> tensor<" result "xi8>"

INSTANTIATE_TEST_SUITE_P(
    Window, TosaCheck,
    testing::Values(
        Bad{"inputChannels", CONV_ARGUMENTS("1x8x8x4", "8x3x3x5", "8"), "1x6x6x8xi32",
            CONV("conv2d", "1x8x8x4", "8x3x3x5", "8", "0", "1", "1x6x6x8"),
            "2:6: 'tosa.conv2d' op number of the weights' input channels must be 4, not 5"},
        Bad{"batches", CONV_ARGUMENTS("1x8x8x4", "8x3x3x4", "8"), "2x6x6x8xi32",
            CONV("conv2d", "1x8x8x4", "8x3x3x4", "8", "0", "1", "2x6x6x8"),
            "2:6: 'tosa.conv2d' op number of output batches must be 1, not 2"},
        Bad{"dilation", CONV_ARGUMENTS("1x8x8x4", "8x1x1x4", "8"), "1x8x8x8xi32",
            CONV("conv2d", "1x8x8x4", "8x1x1x4", "8", "0", "9223372036854775807", "1x8x8x8"),
            "2:6: 'tosa.conv2d' op dilation must be at most 8192, not 9223372036854775807"},
        Bad{"pad", CONV_ARGUMENTS("1x8x1x1", "1x1x1x1", "1"), "1x8201x1x1xi32",
            CONV("conv2d", "1x8x1x1", "1x1x1x1", "1", "8193", "1", "1x8201x1x1"),
            "2:6: 'tosa.conv2d' op pad must be at most 8192, not 8193"},
        Bad{"reach", CONV_ARGUMENTS("1x8193x1x1", "1x3x1x1", "1"), "1x1x1x1xi32",
            CONV("conv2d", "1x8193x1x1", "1x3x1x1", "1", "0", "4096", "1x1x1x1"),
            "2:6: 'tosa.conv2d' op size of the kernel times its dilation must be at most 8192, not "
            "12288"},
        Bad{"depthwiseInputChannels", CONV_ARGUMENTS("1x8x8x4", "3x3x5x2", "10"), "1x6x6x10xi32",
            CONV("depthwise_conv2d", "1x8x8x4", "3x3x5x2", "10", "0", "1", "1x6x6x10"),
            "2:6: 'tosa.depthwise_conv2d' op number of the weights' input channels must be 4, not "
            "5"},
        Bad{"depthwiseOutputChannels", CONV_ARGUMENTS("1x8x8x4", "3x3x4x2", "1"), "1x6x6x9xi32",
            CONV("depthwise_conv2d", "1x8x8x4", "3x3x4x2", "1", "0", "1", "1x6x6x9"),
            "2:6: 'tosa.depthwise_conv2d' op number of output channels must be 8, not 9"},
        Bad{"poolChannels", "%x: tensor<1x8x8x4xi8>", "1x7x7x5xi8",
            POOL("1x8x8x4", "2, 2", "1x7x7x5"),
            "2:6: 'tosa.max_pool2d' op number of output channels must be 4, not 5"},
        Bad{"poolKernel", "%x: tensor<1x8193x1x1xi8>", "1x1x1x1xi8",
            POOL("1x8193x1x1", "8193, 1", "1x1x1x1"),
            "2:6: 'tosa.max_pool2d' op size of the kernel must be at most 8192, not 8193"}),
    nameOf);

#define RESCALE_CONSTANTS(multiplier, shift)                                                       \
  "%m = \"tosa.const\"() {values = dense<" multiplier "> : tensor<1xi32>} : () -> tensor<1xi32> "  \
  "%s = \"tosa.const\"() {values = dense<" shift "> : tensor<1xi8>} : () -> tensor<1xi8>\n"
#define RESCALE(x, xZp, y, yZp, zps, xUnsigned, yUnsigned, channels)                               \
  "%o = tosa.rescale %x, %m, %s, " zps " {input_unsigned = " xUnsigned                             \
  ", output_unsigned = " yUnsigned ", per_channel = " channels                                     \
  ", rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<" x                                   \
  ">, tensor<1xi32>, tensor<1xi8>, tensor<1x" xZp ">, tensor<1x" yZp ">) -> tensor<" y ">"

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, TosaCheck,
    testing::Values(
        Bad{"rescaleShape", "%x: tensor<4xi32>", "5xi8",
            RESCALE_CONSTANTS("5", "30")
                RESCALE("4xi32", "i32", "5xi8", "i8", "%z32, %z8", "false", "false", "false"),
            "3:6: 'tosa.rescale' op result must have the shape of the input"},
        Bad{"rescaleShiftSmall", "%x: tensor<4xi32>", "4xi8",
            RESCALE_CONSTANTS("5", "1")
                RESCALE("4xi32", "i32", "4xi8", "i8", "%z32, %z8", "false", "false", "false"),
            "3:6: 'tosa.rescale' op shift must be from 2 to 62, not 1"},
        Bad{"rescaleShiftLarge", "%x: tensor<4xi32>", "4xi8",
            RESCALE_CONSTANTS("5", "63")
                RESCALE("4xi32", "i32", "4xi8", "i8", "%z32, %z8", "false", "false", "false"),
            "3:6: 'tosa.rescale' op shift must be from 2 to 62, not 63"},
        Bad{"rescaleMultiplier", "%x: tensor<4xi32>", "4xi8",
            RESCALE_CONSTANTS("-5", "30")
                RESCALE("4xi32", "i32", "4xi8", "i8", "%z32, %z8", "false", "false", "false"),
            "3:6: 'tosa.rescale' op multiplier must not be negative, but one is -5"},
        Bad{"rescaleUnsignedTwice", "%x: tensor<4xi8>", "4xi8",
            RESCALE_CONSTANTS("5", "30")
                RESCALE("4xi8", "i8", "4xi8", "i8", "%z8, %z8", "true", "true", "false"),
            "3:6: 'tosa.rescale' op input and result cannot both be unsigned"},
        Bad{"rescaleUnsignedWide", "%x: tensor<4xi8>", "4xi32",
            RESCALE_CONSTANTS("5", "30")
                RESCALE("4xi8", "i8", "4xi32", "i32", "%z8, %z32", "true", "false", "false"),
            "3:6: 'tosa.rescale' op cannot be unsigned when input or result is i32"},
        Bad{"mulShape", "%a: tensor<2x1xi32>", "2x4xi32",
            "%o = tosa.mul %a, %a, %z8 : (tensor<2x1xi32>, tensor<2x1xi32>, tensor<1xi8>) -> "
            "tensor<2x4xi32>",
            "2:6: 'tosa.mul' op result must be 'tensor<2x1xi32>', not 'tensor<2x4xi32>'"},
        Bad{"mulElement", "%a: tensor<2xi8>", "2xi16",
            "%o = tosa.mul %a, %a, %z8 : (tensor<2xi8>, tensor<2xi8>, tensor<1xi8>) -> "
            "tensor<2xi16>",
            "2:6: 'tosa.mul' op result must be 'tensor<2xi32>', not 'tensor<2xi16>'"},
        Bad{"mulShift", "%a: tensor<2xi8>", "2xi32",
            "%s = \"tosa.const\"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>\n"
            "%o = tosa.mul %a, %a, %s : (tensor<2xi8>, tensor<2xi8>, tensor<1xi8>) -> "
            "tensor<2xi32>",
            "3:6: 'tosa.mul' op shift must be from 0 to 0 for its operands, not 3"},
        Bad{"tableEntries", "%x: tensor<4xi8>, %t: tensor<255xi8>", "4xi8",
            "%o = tosa.table %x, %t : (tensor<4xi8>, tensor<255xi8>) -> tensor<4xi8>",
            "2:6: 'tosa.table' op table for i8 must have 256 entries of i8"},
        Bad{"tableResult", "%x: tensor<4xi8>, %t: tensor<256xi8>", "4xi32",
            "%o = tosa.table %x, %t : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi32>",
            "2:6: 'tosa.table' op result of a table for i8 must have elements of i8"}),
    nameOf);

#define SHAPE(name, values, count)                                                                 \
  name " = tosa.const_shape {values = dense<" values "> : tensor<" count                           \
       "xindex>} : () -> !tosa.shape<" count "> "
#define SLICE(start, size, result)                                                                 \
  SHAPE("%start", start, "2")                                                                      \
  SHAPE("%size", size, "2")                                                                        \
  "\n%o = tosa.slice %x, %start, %size : (tensor<4x4xi8>, !tosa.shape<2>, !tosa.shape<2>) -> "     \
  "tensor<" result "xi8>"

INSTANTIATE_TEST_SUITE_P(
    Movement, TosaCheck,
    testing::Values(
        Bad{"sliceStart", "%x: tensor<4x4xi8>", "2x2xi8", SLICE("[-1, 1]", "[2, 2]", "2x2"),
            "3:6: 'tosa.slice' op start must not be negative, but is -1 on axis 0"},
        Bad{"sliceSize", "%x: tensor<4x4xi8>", "1x2xi8", SLICE("[1, 1]", "[0, 2]", "1x2"),
            "3:6: 'tosa.slice' op size must be at least 1, but is 0 on axis 0"},
        Bad{"sliceBounds", "%x: tensor<4x4xi8>", "2x2xi8",
            SLICE("[1, 9223372036854775807]", "[2, 2]", "2x2"),
            "3:6: 'tosa.slice' op leaves its input on axis 1: 2 elements from 9223372036854775807 "
            "of 4"},
        Bad{"sliceResult", "%x: tensor<4x4xi8>", "3x2xi8", SLICE("[1, 1]", "[2, 2]", "3x2"),
            "3:6: 'tosa.slice' op size on axis 0 is 2, but the result has 3"},
        Bad{"padNegative", "%x: tensor<4x4xi8>", "4x4xi8",
            SHAPE("%p", "[-1, 1, 0, 0]", "4") "\n%o = tosa.pad %x, %p, %z8 : (tensor<4x4xi8>, "
                                              "!tosa.shape<4>, tensor<1xi8>) -> tensor<4x4xi8>",
            "3:6: 'tosa.pad' op padding must not be negative, but is -1 on axis 0"},
        Bad{"padOverflow", "%x: tensor<4x4xi8>", "2x4xi8",
            SHAPE("%p", "[9223372036854775807, 9223372036854775807, 0, 0]",
                  "4") "\n%o = tosa.pad %x, %p, %z8 : (tensor<4x4xi8>, !tosa.shape<4>, "
                       "tensor<1xi8>) -> tensor<2x4xi8>",
            "3:6: 'tosa.pad' op padding on axis 0 does not give the result's size of 2"},
        Bad{"tile", "%x: tensor<4x4xi8>", "9x4xi8",
            SHAPE(
                "%p", "[2, 1]",
                "2") "\n%o = tosa.tile %x, %p : (tensor<4x4xi8>, !tosa.shape<2>) -> tensor<9x4xi8>",
            "3:6: 'tosa.tile' op multiple on axis 0 is 2, which does not give 9 from 4"},
        Bad{"identity", "%x: tensor<2x3xi8>", "3x2xi8",
            "%o = tosa.identity %x : (tensor<2x3xi8>) -> tensor<3x2xi8>",
            "2:6: 'tosa.identity' op result must be 'tensor<2x3xi8>' as its operand, not "
            "'tensor<3x2xi8>'"},
        Bad{"reverse", "%x: tensor<2x3xi8>", "2x4xi8",
            "%o = tosa.reverse %x {axis = 1 : i32} : (tensor<2x3xi8>) -> tensor<2x4xi8>",
            "2:6: 'tosa.reverse' op result must be 'tensor<2x3xi8>' as its operand, not "
            "'tensor<2x4xi8>'"},
        Bad{"resizeChannels", "%x: tensor<1x2x2x3xi8>", "1x4x4x4xi8",
            SHAPE("%scale", "[2, 1, 2, 1]", "4") SHAPE("%offset", "[0, 0]", "2")
                SHAPE("%border", "[1, 1]",
                      "2") "\n%o = tosa.resize %x, %scale, %offset, %border {mode = "
                           "NEAREST_NEIGHBOR} : (tensor<1x2x2x3xi8>, !tosa.shape<4>, "
                           "!tosa.shape<2>, !tosa.shape<2>) -> tensor<1x4x4x4xi8>",
            "3:6: 'tosa.resize' op result must have 1 batches and 3 channels as the input, not 1 "
            "and 4"},
        Bad{"gatherIndex", "%x: tensor<1x4x2xi8>", "1x2x2xi8",
            "%i = \"tosa.const\"() {values = dense<[[0, 4]]> : tensor<1x2xi32>} : () -> "
            "tensor<1x2xi32>\n"
            "%o = tosa.gather %x, %i : (tensor<1x4x2xi8>, tensor<1x2xi32>) -> tensor<1x2x2xi8>",
            "3:6: 'tosa.gather' op index 4 is not within the 4 values"}),
    nameOf);

// A resize of 1x`input`x1x1 to 1x`result`x1x1 whose height has these parameters.
std::string resized(int64_t input, int64_t result, const std::string &scale, int64_t offset,
                    int64_t border) {
  auto type = [](int64_t height) { return "tensor<1x" + std::to_string(height) + "x1x1xi8>"; };
  auto shape = [](const std::string &name, const std::string &values, const std::string &count) {
    return name + " = tosa.const_shape {values = dense<[" + values + "]> : tensor<" + count +
           "xindex>} : () -> !tosa.shape<" + count + "> ";
  };
  std::string text =
      shape("%scale", scale + ", 1, 1", "4") +
      shape("%offset", std::to_string(offset) + ", 0", "2") +
      shape("%border", std::to_string(border) + ", 0", "2") +
      "\n%o = tosa.resize %x, %scale, %offset, %border {mode = NEAREST_NEIGHBOR} : (" +
      type(input) + ", !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> " + type(result) +
      "\nreturn %o : " + type(result);
  return diagnosticOf(mainOf("%x: " + type(input), type(result), text), {"tosa-check"});
}

TEST(TosaCheck, ResizeParameters) {
  EXPECT_EQ(resized(2, 4, "2, 1", 0, 1), "[accepted]");
  EXPECT_EQ(resized(16384, 16384, "1, 1", 0, 0),
            "3:6: 'tosa.resize' op height and width must be below 16384, not 16384");
  EXPECT_EQ(resized(2, 4, "4096, 2048", 0, 2048),
            "3:6: 'tosa.resize' op numerator of the height's scale must be at most 2048, not 4096");
  EXPECT_EQ(resized(17, 2, "1, 16", 0, 0),
            "3:6: 'tosa.resize' op denominator of the height's scale must be below 16, not 16");
  EXPECT_EQ(resized(2, 6, "2, 1", -3, 0),
            "3:6: 'tosa.resize' op offset of the height must be from -2 to below 32, not -3");
  EXPECT_EQ(resized(40, 47, "2, 1", 32, 0),
            "3:6: 'tosa.resize' op offset of the height must be from -2 to below 32, not 32");
  EXPECT_EQ(resized(40, 46, "2, 1", 0, -33),
            "3:6: 'tosa.resize' op border of the height must be from -32 to below 2, not -33");
  EXPECT_EQ(resized(2, 5, "2, 1", 0, 2),
            "3:6: 'tosa.resize' op border of the height must be from -32 to below 2, not 2");
}

TEST(TosaCheck, TensorTypes) {
  auto argument = [](const std::string &type) {
    return diagnosticOf("\nfunc.func @main(%a: " + type + ") {\n  return\n}", {"tosa-check"});
  };
  EXPECT_EQ(argument("tensor<2xf32>"), "2:1: 'func.func' op has elements of 'f32', but only "
                                       "integers have kernels: quantize the model first");
  EXPECT_EQ(argument("tensor<?xi8>"),
            "2:1: 'func.func' op has 'tensor<?xi8>', but every tensor must have a static shape");
  EXPECT_EQ(argument("tensor<*xi8>"),
            "2:1: 'func.func' op has 'tensor<*xi8>', but every tensor must have a static shape");
  EXPECT_EQ(argument("i8"),
            "2:1: 'func.func' op has 'i8', but every tensor must have a static shape");
  EXPECT_EQ(argument("tensor<0xi8>"),
            "2:1: 'func.func' op has 'tensor<0xi8>', but no size may be zero");
  EXPECT_EQ(
      argument("tensor<2xi64>"),
      "2:1: 'func.func' op has elements of 'i64', but only i1, i8, i16 and i32 are supported");
  EXPECT_EQ(
      argument("tensor<2xui8>"),
      "2:1: 'func.func' op has elements of 'ui8', but only i1, i8, i16 and i32 are supported");
  EXPECT_EQ(argument("tensor<1x1x1x1x1x1x2xi8>"),
            "2:1: 'func.func' op has 'tensor<1x1x1x1x1x1x2xi8>', but a tensor may have at most 6 "
            "dimensions");
  EXPECT_EQ(argument("tensor<4611686018427387904x8xi32>"),
            "2:1: 'func.func' op has 'tensor<4611686018427387904x8xi32>', but a tensor may have at "
            "most 2147483647 bytes");
}

TEST(TosaCheck, ModuleStructure) {
  EXPECT_EQ(diagnosticOf("module {}", {"tosa-check"}),
            "1:1: 'builtin.module' op has no function @main");
  EXPECT_EQ(
      diagnosticOf("func.func @main() {\n  return\n}\nfunc.func private @f()", {"tosa-check"}),
      "4:1: 'func.func' op cannot stand in a model: the module must hold one function @main and "
      "nothing else");
  EXPECT_EQ(diagnosticOf("func.func private @main()", {"tosa-check"}),
            "1:1: 'func.func' op must have a body of one block");
  EXPECT_EQ(diagnosticOf("func.func @main() {\n  func.call @main() : () -> ()\n  return\n}",
                         {"tosa-check"}),
            "2:3: 'func.call' op is no TOSA operator");
}

std::string constantOf(const std::string &values, const std::string &resources) {
  return "func.func @main() -> tensor<2xi8> {\n  %0 = \"tosa.const\"() {values = " + values +
         " : tensor<2xi8>} : () -> tensor<2xi8>\n  return %0 : tensor<2xi8>\n}\n" + resources;
}

TEST(TosaCheck, ConstantsHaveTheirData) {
  EXPECT_EQ(diagnosticOf(constantOf("dense_resource<w>", ""), {"tosa-check"}),
            "2:8: 'tosa.const' op has no data: resource 'w' is not defined");
  EXPECT_EQ(
      diagnosticOf(constantOf("dense_resource<w>",
                              "{-# dialect_resources: { builtin: { w: \"0x0100000001\" } } #-}"),
                   {"tosa-check"}),
      "2:8: 'tosa.const' op needs 2 bytes, but resource 'w' has 1");
  EXPECT_EQ(diagnosticOf(constantOf("sparse<[[1]], [5]>", ""), {"tosa-check"}),
            "2:8: 'tosa.const' op must hold dense elements");
}

TEST(TosaCheck, ResourceConstantsBecomeDense) {
  PassResult result =
      runPasses(constantOf("dense_resource<w>",
                           "{-# dialect_resources: { builtin: { w: \"0x0100000001FF\" } } #-}"),
                {"tosa-to-kernel"});
  ASSERT_TRUE(result.succeeded) << testing::PrintToString(result.diagnostics);
  EXPECT_THAT(result.module, testing::HasSubstr("dense<[1, -1]>"));
}

} // namespace
} // namespace tilewright
