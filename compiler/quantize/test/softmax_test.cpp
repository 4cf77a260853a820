// Softmax, and what reads it.
#include "quantize_fixture.h"

namespace tilewright {

namespace {

// Softmax over each axis, as importers decompose it.
class SoftmaxOver : public Quantize, public ::testing::WithParamInterface<int> {};
TEST_P(SoftmaxOver, IsExactToTheLogits) {
  std::string axis = " {axis = " + std::to_string(GetParam()) + " : i32} : ";
  int64_t sizes[] = {3, 4, 70};
  sizes[GetParam()] = 1;
  std::string t = "tensor<3x4x70xf32>";
  std::string r = "tensor<" + std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" +
                  std::to_string(sizes[2]) + "xf32>";
  std::string both = " : (" + t + ", " + r;
  EXPECT_GT(decibels("(%x: " + t + ") -> " + t,
                     "%m = tosa.reduce_max %x" + axis + "(" + t + ") -> " + r +
                         "\n%d = tosa.sub %x, %m" + both + ") -> " + t + "\n%e = tosa.exp %d : (" +
                         t + ") -> " + t + "\n%s = tosa.reduce_sum %e" + axis + "(" + t + ") -> " +
                         r + "\n%i = tosa.reciprocal %s : (" + r + ") -> " + r +
                         "\n%y = tosa.mul %e, %i, %shift" + both + ", tensor<1xi8>) -> " + t +
                         "\nreturn %y : " + t)[0],
            36);
  EXPECT_EQ(count("tosa.table"), 2);
  EXPECT_EQ(scaleOf("tilewright.scale", true, 0), 1.0 / 32768);
}
INSTANTIATE_TEST_SUITE_P(, SoftmaxOver, ::testing::Values(0, 1, 2));

TEST_F(Quantize, ASoftmaxThatAConvolutionReadsHasEightBits) {
  std::string convolution = convolve;
  convolution.replace(convolution.find("%x"), 2, "%y");
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>",
                     softmaxOf("%x", 3) + convolution + "return %c : tensor<1x4x6x4xf32>")[0],
            34);
}

TEST_F(Quantize, ASoftmaxThatATableReadsHasEightBits) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", softmaxOf("%x", 3) + R"(
    %t = tosa.tanh %y : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %t : tensor<1x4x6x3xf32>)")[0],
            34);
}

TEST_F(Quantize, ASumKeepsASoftmaxAtSixteenBits) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", softmaxOf("%x", 3) + R"(
    %t = tosa.add %y, %y : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %t : tensor<1x4x6x3xf32>)")[0],
            36);
  integer_->walk([](mlir::tosa::RescaleOp op) {
    auto type = llvm::cast<mlir::RankedTensorType>(op.getInput().getType());
    auto shift = op.getShift().getDefiningOp<mlir::tosa::ConstOp>();
    if (type.getElementType().isInteger(16))
      EXPECT_GE(*shift.getValues().getValues<int8_t>().begin(), 16);
  });
}

TEST_F(Quantize, LogitsOfAnySizeAreTold) {
  // Logits of up to a million: where the classes differ, one of them is certain.
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>",
                     R"(
    %wl = "tosa.const"() {values = dense<[[[[500000.0, 0.0, 0.0]]], [[[0.0, 800000.0, 0.0]]], [[[0.0, 0.0, 300000.0]]], [[[-500000.0, 0.0, 1.0]]]]> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %c = tosa.conv2d %x, %wl, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>)" +
                         softmaxOf("%c", 4) + "return %y : tensor<1x4x6x4xf32>")[0],
            15);
}

} // namespace

} // namespace tilewright
