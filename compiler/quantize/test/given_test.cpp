// What a model that is quantized already says of its tensors is what the integers use.
#include "quantize_fixture.h"

#include "tilewright/compiler/tosa/given_parameters.h"

#include "mlir/IR/Matchers.h"

#include <set>

namespace tilewright {

namespace {

// %NAME: what the model stores of `x`, of `type`.
std::string stored(const std::string &name, const std::string &x, double scale, int zero,
                   const std::string &type) {
  auto end = [&](int q) { return std::to_string((q - zero) * scale); };
  return "%" + name + " = tosa.clamp " + x + " {min_val = " + end(-128) +
         " : f32, max_val = " + end(127) + " : f32, tilewright.scale = " + std::to_string(scale) +
         " : f64, tilewright.zero_point = " + std::to_string(zero) +
         " : i64, tilewright.bits = 8 : i64} : (" + type + ") -> " + type + " loc(\"" + name +
         "\"(\"QuantizeLinear\"))\n";
}

// The same with 16 bits, of which one is left free for the parts that convolutions take.
std::string storedWide(const std::string &name, const std::string &x, double scale,
                       const std::string &type) {
  std::string wide = stored(name, x, scale, 0, type);
  const size_t at = wide.find("tilewright.bits = 8");
  wide.replace(at, 19, "tilewright.bits = 16");
  for (const char *bound : {"min_val = ", "max_val = "}) {
    const size_t from = wide.find(bound) + 10;
    wide.replace(from, wide.find(' ', from) - from,
                 std::to_string((bound[1] == 'i' ? -16256 : 16256) * scale));
  }
  return wide;
}

const std::string image = "tensor<1x4x6x3xf32>", result = "tensor<1x4x6x4xf32>";
const std::string input = stored("q", "%i", 0.03125, 5, image);
// Of %q.
const std::string convolved = R"(
    %c = tosa.conv2d %q, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32> loc("body"("Conv"))
  )";

TEST_F(Quantize, TheModelsScaleIsThatOfAConvolutionsResult) {
  EXPECT_GT(decibels("(%i: " + image + ") -> " + result, input + convolved +
                                                             stored("y", "%c", 0.25, -7, result) +
                                                             "return %y : " + result)[0],
            20);
  EXPECT_EQ(scaleOf("tilewright.scale", true, 0), 0.25);
  EXPECT_EQ(scaleOf("tilewright.zero_point", true, 0), -7);
  EXPECT_EQ(count("tosa.rescale"), 1);
}

TEST_F(Quantize, TheModelsScaleIsThatOfAnInput) {
  decibels("(%i: " + image + ") -> " + image, input + "return %q : " + image);
  EXPECT_EQ(scaleOf("tilewright.scale", false, 0), 0.03125);
  EXPECT_EQ(scaleOf("tilewright.zero_point", false, 0), 5);
  EXPECT_EQ(count("tosa.table"), 0);
}

TEST_F(Quantize, SamplesTellNothingWhereTheModelTellsAll) {
  decibels("(%i: " + image + ") -> " + result,
           input + convolved + stored("y", "%c", 0.25, 0, result) + "return %y : " + result);
  EXPECT_TRUE(report_.isGiven);
  EXPECT_EQ(report_.open, "");
}

TEST_F(Quantize, SamplesTellWhatTheModelLeavesOpen) {
  decibels("(%x: " + image + ") -> " + result,
           convolve + stored("y", "%c", 0.25, 0, result) + "return %y : " + result);
  EXPECT_TRUE(report_.isGiven);
  EXPECT_EQ(report_.open, "an input");
}

TEST_F(Quantize, AFloatModelLeavesEverythingOpen) {
  decibels("(%x: " + image + ") -> " + result, convolve + "return %c : " + result);
  EXPECT_FALSE(report_.isGiven);
}

// The greatest sum of 8-bit inputs has a place in 16 bits.
TEST_F(Quantize, AResultOfSixteenBitsNeedsNoSamples) {
  EXPECT_GT(
      decibels("(%i: " + image + ") -> " + result, input + convolved + "return %c : " + result)[0],
      33);
  EXPECT_EQ(report_.open, "");
}

TEST_F(Quantize, TheModelsScalesStandOnBothSidesOfAMaximumOfWindows) {
  const std::string pooled = "tensor<1x2x3x3xf32>";
  decibels("(%i: " + image + ") -> " + pooled, input + R"(
    %m = tosa.max_pool2d %q {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x4x6x3xf32>) -> tensor<1x2x3x3xf32>
)" + stored("y", "%m", 0.03125, 5, pooled) +
                                                   "return %y : " + pooled);
  EXPECT_EQ(count("tosa.table") + count("tosa.rescale"), 0);
}

TEST_F(Quantize, AnAverageOfWindowsIsRoundedOnce) {
  const std::string pooled = "tensor<1x2x3x3xf32>";
  EXPECT_GT(decibels("(%i: " + image + ") -> " + pooled, input + R"(
    %m = tosa.avg_pool2d %q, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x4x6x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x3xf32>
)" + stored("y", "%m", 0.02, 0, pooled) + "return %y : " + pooled)[0],
            30);
  EXPECT_EQ(count("tosa.avg_pool2d"), 0);
  EXPECT_EQ(count("tosa.rescale"), 1);
}

// Of 4, 6 or 9 elements.
TEST_F(Quantize, AnAverageOverPadsIsRoundedOnce) {
  decibels("(%i: " + image + ") -> " + image, input + R"(
    %m = tosa.avg_pool2d %q, %z, %z {acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x3xf32>
)" + stored("y", "%m", 0.02, 0, image) +
                                                  "return %y : " + image);
  EXPECT_EQ(count("tosa.avg_pool2d"), 0);
  EXPECT_EQ(count("tosa.rescale"), 1);
}

// Windows of 30 x 30 elements less the pads: no 32 bits hold a common divisor.
TEST_F(Quantize, AnAverageOverManyPadsIsThePools) {
  const std::string large = "tensor<1x30x30x1xf32>", pooled = "tensor<1x31x31x1xf32>";
  decibels("(%i: " + large + ") -> " + pooled, stored("q", "%i", 0.03125, 5, large) + R"(
    %m = tosa.avg_pool2d %q, %z, %z {acc_type = f32, kernel = array<i64: 30, 30>, pad = array<i64: 15, 15, 15, 15>, stride = array<i64: 1, 1>}
      : (tensor<1x30x30x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x31x31x1xf32>
)" + stored("y", "%m", 0.02, 0, pooled) +
                                                   "return %y : " + pooled);
  EXPECT_EQ(count("tosa.avg_pool2d"), 1);
}

TEST_F(Quantize, ConvolutionsBeforeASumKeepSixteenBits) {
  std::string other = convolved;
  other.replace(other.find("%c"), 2, "%d");
  EXPECT_GT(decibels("(%i: " + image + ") -> " + result,
                     input + convolved + other + "%s = tosa.add %c, %d : (" + result + ", " +
                         result + ") -> " + result + "\n" + stored("y", "%s", 0.25, -7, result) +
                         "return %y : " + result)[0],
            20);
  EXPECT_EQ(report_.open, "");
  int wide = 0;
  integer_->walk([&](mlir::tosa::RescaleOp op) {
    wide += mlir::getElementTypeOrSelf(op.getOutput()).isInteger(16);
  });
  EXPECT_EQ(wide, 2);
}

// What the model stores on the way is rounded to steps of a quarter: the table has five values.
TEST_F(Quantize, FunctionsOfWhatTheModelStoresAreOneTable) {
  decibels("(%i: " + image + ") -> " + image,
           input + "%s = tosa.sigmoid %q : (" + image + ") -> " + image + "\n" +
               stored("t", "%s", 0.25, -128, image) + "%e = tosa.exp %t : (" + image + ") -> " +
               image + "\n" + stored("y", "%e", 1.0 / 64, -128, image) + "return %y : " + image);
  EXPECT_EQ(count("tosa.table"), 1);
  std::set<int8_t> values;
  integer_->walk([&](mlir::tosa::TableOp op) {
    mlir::DenseElementsAttr entries;
    EXPECT_TRUE(mlir::matchPattern(op.getTable(), mlir::m_Constant(&entries)));
    values.insert(entries.value_begin<int8_t>(), entries.value_end<int8_t>());
  });
  EXPECT_EQ(values.size(), 5u);
}

// What reads a tensor that the model stores with 16 bits takes all of them: 8 leave 35 dB and less.
constexpr double ofSixteenBits = 60, step = 1.0 / 2048;

TEST_F(Quantize, ADepthwiseConvolutionTakesSixteenBits) {
  EXPECT_GT(decibels("(%i: " + image + ") -> " + image, storedWide("q", "%i", step, image) + R"(
    %taps = "tosa.const"() {values = dense<[[[[0.3], [-0.7], [0.5]], [[0.6], [0.2], [0.11]]]]> : tensor<1x2x3x1xf32>} : () -> tensor<1x2x3x1xf32>
    %bias = "tosa.const"() {values = dense<0.0> : tensor<3xf32>} : () -> tensor<3xf32>
    %c = tosa.depthwise_conv2d %q, %taps, %bias, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<1x2x3x1xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x3xf32> loc("depth"("Conv"))
)" + storedWide("y", "%c", step, image) + "return %y : " + image)[0],
            38); // of weights of 8 bits
  EXPECT_EQ(count("tosa.depthwise_conv2d"), 2);
}

TEST_F(Quantize, AProductOfTwoTensorsTakesSixteenBits) {
  const std::string rows = "tensor<2x5x5xf32>";
  EXPECT_GT(decibels("(%i: " + rows + ") -> " + rows, storedWide("q", "%i", step, rows) + R"(
    %m = tosa.matmul %q, %q, %z, %z : (tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x5xf32> loc("product"("MatMul"))
)" + storedWide("y", "%m", step, rows) + "return %y : " + rows)[0],
            ofSixteenBits);
  EXPECT_EQ(count("tosa.matmul"), 4);
}

TEST_F(Quantize, AConstantBesideSixteenBitsHasSixteen) {
  for (const char *op : {"add", "sub", "maximum"}) {
    const std::string pair = "tensor<1x2x2x1xf32>";
    EXPECT_GT(decibels("(%i: " + pair + ") -> " + pair, storedWide("q", "%i", step, pair) + R"(
    %k = "tosa.const"() {values = dense<[[[[0.3123], [-0.7]], [[0.5456], [0.2]]]]> : tensor<1x2x2x1xf32>} : () -> tensor<1x2x2x1xf32>
    %s = tosa.)" + op + " %q, %k : (" + pair + ", " + pair + ") -> " +
                                                            pair + "\n" +
                                                            storedWide("y", "%s", step, pair) +
                                                            "return %y : " + pair)[0],
              ofSixteenBits)
        << op;
  }
}

// Tables of 8 bits yield 8.
TEST_F(Quantize, AFunctionOfEightBitsIsStoredInSixteen) {
  const std::string wide = storedWide("y", "%s", 1.0 / 16256, image);
  EXPECT_GT(decibels("(%i: " + image + ") -> " + image, input + "%s = tosa.tanh %q : (" + image +
                                                            ") -> " + image + "\n" + wide +
                                                            "return %y : " + image)[0],
            30);
  EXPECT_EQ(count("tosa.table"), 1);
}

} // namespace

} // namespace tilewright
