// Each rule of the quantizer on a small graph: the integer graph is valid TOSA, holds only
// integers, and stays near the float graph.
#include "quantize_fixture.h"

#include <numeric>

#include <set>

namespace tilewright {

namespace {

// %l: an eighth of the first half of %x; %t: the other half, transposed.
const std::string halves = R"(
    %e = "tosa.const"() {values = dense<0.125> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
    %from = tosa.const_shape {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
    %half = tosa.const_shape {values = dense<[0, 0, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %size = tosa.const_shape {values = dense<[2, 6, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %f = tosa.slice %x, %from, %size : (tensor<2x6x8xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x6x4xf32>
    %g = tosa.slice %x, %half, %size : (tensor<2x6x8xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x6x4xf32>
    %l = tosa.mul %f, %e, %shift : (tensor<2x6x4xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x6x4xf32>
    %t = tosa.transpose %g {perms = array<i32: 0, 2, 1>} : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
)";

TEST_F(Quantize, ConvolutionWithPerChannelWeightsGivesSixteenBitsAtTheOutput) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>",
                     convolve + "return %c : tensor<1x4x6x4xf32>")[0],
            38);
  EXPECT_EQ(count("tosa.rescale"), 1);
  auto main = integer_->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_TRUE(
      llvm::cast<mlir::RankedTensorType>(main.getResultTypes()[0]).getElementType().isInteger(16));
  main.walk([](mlir::tosa::RescaleOp op) { EXPECT_TRUE(op.getPerChannel() && op.getScale32()); });
}

TEST_F(Quantize, ReportNamesTheUsersOperators) {
  decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>",
           convolve + "return %c : tensor<1x4x6x4xf32>");
  ASSERT_EQ(report_.layers.size(), 1u);
  EXPECT_EQ(report_.layers[0].layer, "body");
  EXPECT_EQ(report_.layers[0].op, "Conv");
  EXPECT_GT(report_.layers[0].decibels, 38);
}

TEST_F(Quantize, ReluGoesIntoTheRescale) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>", convolve + R"(
    %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %r : tensor<1x4x6x4xf32>)")[0],
            36);
  EXPECT_EQ(count("tosa.clamp"), 0);
  EXPECT_EQ(count("tosa.table"), 0);
  EXPECT_EQ(scaleOf("tilewright.zero_point", true, 0), -128);
}

TEST_F(Quantize, ABoundInsideTheRangeIsClamped) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>", convolve + R"(
    %r = tosa.clamp %c {min_val = 1.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %r : tensor<1x4x6x4xf32>)")[0],
            36);
  EXPECT_EQ(count("tosa.clamp"), 1);
}

// What a clamp cuts off takes no part of the range: one channel is ten thousand times the others,
// and negative.
TEST_F(Quantize, AValueThatOnlyClampsReadHasTheirRange) {
  for (Precision precision : {Precision::Standard, Precision::Extended}) {
    precision_ = precision;
    EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x6xf32>", R"(
    %factor = "tosa.const"() {values = dense<[[[[-1.0e4, 1.0, 1.0]]]]> : tensor<1x1x1x3xf32>} : () -> tensor<1x1x1x3xf32>
    %s = tosa.mul %x, %x, %shift : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    %m = tosa.mul %s, %factor, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    %both = tosa.concat %m, %x {axis = 3 : i32} : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x6xf32>
    %r = tosa.clamp %both {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    return %r : tensor<1x4x6x6xf32>)")[0],
              35);
  }
}

TEST_F(Quantize, ScalarsGoIntoTheConvolutionBeforeThem) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>", convolve + R"(
    %m = tosa.mul %c, %sixth, %shift : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    %a = tosa.add %m, %three : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x6x4xf32>
    %r = tosa.clamp %a {min_val = 0.0 : f32, max_val = 4.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %r : tensor<1x4x6x4xf32>)")[0],
            40);
  EXPECT_EQ(count("tosa.table") + count("tosa.add") + count("tosa.mul"), 0);
}

TEST_F(Quantize, AnImagesAverageHasItsOwnScale) {
  EXPECT_GT(decibels("(%x: tensor<1x12x24x3xf32>) -> tensor<1x1x1x3xf32>", R"(
    %p = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 12, 24>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x12x24x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x3xf32>
    return %p : tensor<1x1x1x3xf32>)")[0],
            25);
  EXPECT_EQ(count("tosa.avg_pool2d"), 0); // which would round the sums of its windows
  integer_->walk([](mlir::tosa::DepthwiseConv2DOp op) {
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(op.getOutput().getType()).getNumElements(),
              12 * 3);
  });
}

TEST_F(Quantize, PoolsPadsSlicesAndTransposesKeepTheirOperandsScale) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x3x2x3xf32>", R"(
    %ps = tosa.const_shape {values = dense<[0, 0, 1, 1, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
    %m = tosa.pad %x, %ps, %z : (tensor<1x4x6x3xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x3xf32>
    %p = tosa.max_pool2d %m {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x6x3xf32>) -> tensor<1x3x3x3xf32>
    %t = tosa.transpose %p {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
    %ss = tosa.const_shape {values = dense<[0, 0, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %sz = tosa.const_shape {values = dense<[1, 3, 2, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %s = tosa.slice %t, %ss, %sz : (tensor<1x3x3x3xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x2x3xf32>
    return %s : tensor<1x3x2x3xf32>)")[0],
            34);
  EXPECT_EQ(count("tosa.rescale"), 0);
  EXPECT_EQ(scaleOf("tilewright.scale", true, 0), scaleOf("tilewright.scale", false, 0));
}

TEST_F(Quantize, ConcatenationBringsItsOperandsToOneScale) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x7xf32>", convolve + R"(
    %r = tosa.concat %c, %x {axis = 3 : i32} : (tensor<1x4x6x4xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x7xf32>
    return %r : tensor<1x4x6x7xf32>)")[0],
            31);
  EXPECT_EQ(count("tosa.rescale"),
            2); // the convolution's own and the argument's: nothing is rescaled twice
}

// %d: sums of %x times `factor`, beside %c, which a convolution %e reads as well.
std::string besideSums(const std::string &factor) {
  return R"(
    %dw = "tosa.const"() {values = dense<)" +
         factor + R"(> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %ew = "tosa.const"() {values = dense<0.5> : tensor<4x1x1x4xf32>} : () -> tensor<4x1x1x4xf32>
    %d = tosa.conv2d %x, %dw, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %e = tosa.conv2d %c, %ew, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %r = tosa.concat %c, %d {axis = 3 : i32} : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) -> tensor<1x4x6x8xf32>
)";
}

// Boxes in pixels beside scores: 8 bits of the ones would leave nothing of the others.
TEST_F(Quantize, PartsOfAnOutputHaveSixteenBitsWhereTheirRangesDiffer) {
  for (auto [factor, bits] : {std::pair("4.0", 8), {"100.0", 16}}) {
    decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x8xf32>",
             convolve + besideSums(factor) + "return %r : tensor<1x4x6x8xf32>");
    auto main = integer_->lookupSymbol<mlir::func::FuncOp>("main");
    auto result = llvm::cast<mlir::RankedTensorType>(main.getResultTypes()[0]);
    EXPECT_TRUE(result.getElementType().isInteger(static_cast<unsigned>(bits))) << factor;
  }
}

TEST_F(Quantize, APartThatOthersReadHasTheConcatenationsScaleWhereThatLosesLittle) {
  decibels("(%x: tensor<1x4x6x3xf32>) -> (tensor<1x4x6x8xf32>, tensor<1x4x6x4xf32>)",
           convolve + besideSums("8.0") +
               "return %r, %e : tensor<1x4x6x8xf32>, tensor<1x4x6x4xf32>");
  EXPECT_EQ(count("tosa.rescale"), 3); // the convolutions' own
}

TEST_F(Quantize, APartThatOthersReadKeepsItsScaleWhereItWouldLoseMore) {
  decibels("(%x: tensor<1x4x6x3xf32>) -> (tensor<1x4x6x8xf32>, tensor<1x4x6x4xf32>)",
           convolve + besideSums("100.0") +
               "return %r, %e : tensor<1x4x6x8xf32>, tensor<1x4x6x4xf32>");
  EXPECT_EQ(count("tosa.rescale"), 4);
}

TEST_F(Quantize, TheLastOfNestedConcatenationsDecides) {
  decibels("(%x: tensor<1x4x6x3xf32>) -> (tensor<1x4x6x8xf32>, tensor<1x4x6x12xf32>, "
           "tensor<1x4x6x4xf32>)",
           convolve + besideSums("8.0") + R"(
    %fw = "tosa.const"() {values = dense<12.0> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %f = tosa.conv2d %x, %fw, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %s = tosa.concat %c, %d, %f {axis = 3 : i32} : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) -> tensor<1x4x6x12xf32>
    return %r, %s, %e : tensor<1x4x6x8xf32>, tensor<1x4x6x12xf32>, tensor<1x4x6x4xf32>)");
  EXPECT_EQ(scaleOf("tilewright.scale", true, 0), scaleOf("tilewright.scale", true, 1));
  EXPECT_EQ(count("tosa.rescale"), 4);
}

TEST_F(Quantize, AConcatenationWithinAnotherHasItsScale) {
  decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x8x6x8xf32>", convolve + R"(
    %dw = "tosa.const"() {values = dense<8.0> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %ew = "tosa.const"() {values = dense<30.0> : tensor<8x1x1x3xf32>} : () -> tensor<8x1x1x3xf32>
    %eb = "tosa.const"() {values = dense<0.0> : tensor<8xf32>} : () -> tensor<8xf32>
    %d = tosa.conv2d %x, %dw, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %e = tosa.conv2d %x, %ew, %eb, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<8x1x1x3xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x8xf32>
    %r = tosa.concat %c, %d {axis = 3 : i32} : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) -> tensor<1x4x6x8xf32>
    %s = tosa.concat %r, %e {axis = 1 : i32} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x8x6x8xf32>
    return %s : tensor<1x8x6x8xf32>)");
  EXPECT_EQ(count("tosa.rescale"), 3); // the convolutions' own
}

TEST_F(Quantize, WhatIsRepeatedIsBroughtToAnotherScaleBefore) {
  // Others read the small image at its own scale.
  decibels("(%x: tensor<1x4x6x3xf32>, %y: tensor<1x8x12x3xf32>) -> (tensor<1x8x12x7xf32>, "
           "tensor<1x4x6x4xf32>)",
           R"(
    %cw = "tosa.const"() {values = dense<0.01> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %ew = "tosa.const"() {values = dense<0.5> : tensor<4x1x1x4xf32>} : () -> tensor<4x1x1x4xf32>
    %up = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %none = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
    %far = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
    %c = tosa.conv2d %x, %cw, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %e = tosa.conv2d %c, %ew, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %u = tosa.resize %c, %up, %none, %far {mode = NEAREST_NEIGHBOR} : (tensor<1x4x6x4xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x12x4xf32>
    %r = tosa.concat %u, %y {axis = 3 : i32} : (tensor<1x8x12x4xf32>, tensor<1x8x12x3xf32>) -> tensor<1x8x12x7xf32>
    return %r, %e : tensor<1x8x12x7xf32>, tensor<1x4x6x4xf32>)");
  int resized = 0;
  integer_->walk([&](mlir::tosa::ResizeOp op) {
    ++resized;
    EXPECT_TRUE(op.getInput().getDefiningOp<mlir::tosa::RescaleOp>());
    EXPECT_TRUE(llvm::isa<mlir::tosa::ConcatOp>(*op->user_begin()));
  });
  EXPECT_EQ(resized, 1);
}

TEST_F(Quantize, AProductWithAConstantMatrixBecomesAConvolution) {
  EXPECT_GT(decibels("(%x: tensor<1x5x3xf32>) -> tensor<1x5x2xf32>", R"(
    %m = "tosa.const"() {values = dense<[[[1.0, -2.0], [0.5, 0.25], [3.0, 0.0]]]> : tensor<1x3x2xf32>} : () -> tensor<1x3x2xf32>
    %o = "tosa.const"() {values = dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>} : () -> tensor<1x1x2xf32>
    %p = tosa.matmul %x, %m, %z, %z : (tensor<1x5x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x2xf32>
    %r = tosa.add %p, %o : (tensor<1x5x2xf32>, tensor<1x1x2xf32>) -> tensor<1x5x2xf32>
    return %r : tensor<1x5x2xf32>)")[0],
            38);
  EXPECT_EQ(count("tosa.conv2d"), 1);
  EXPECT_EQ(count("tosa.add"), 0);
}

TEST_F(Quantize, MultipliesActivations) {
  EXPECT_GT(decibels("(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x3x5xf32>", R"(
    %p = tosa.matmul %x, %y, %z, %z : (tensor<2x3x4xf32>, tensor<2x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x5xf32>
    return %p : tensor<2x3x5xf32>)")[0],
            34);
}

// Between two slices of one value and their product nothing is rounded.
TEST_F(Quantize, AFactorOfAProductsOperandGoesIntoItsRescale) {
  EXPECT_GT(decibels("(%x: tensor<2x6x8xf32>) -> tensor<2x6x6xf32>", halves + R"(
    %p = tosa.matmul %l, %t, %z, %z : (tensor<2x6x4xf32>, tensor<2x4x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x6xf32>
    return %p : tensor<2x6x6xf32>)")[0],
            34);
  EXPECT_EQ(count("tosa.table") + count("tosa.mul"), 0);
  EXPECT_EQ(count("tosa.rescale"), 1);
  integer_->walk(
      [](mlir::tosa::MatMulOp op) { EXPECT_TRUE(op.getA().getDefiningOp<mlir::tosa::SliceOp>()); });
}

TEST_F(Quantize, AFactorThatAnotherReaderNeedsStaysWhereItIs) {
  for (double each :
       decibels("(%x: tensor<2x6x8xf32>) -> (tensor<2x6x6xf32>, tensor<2x6x4xf32>)", halves + R"(
    %p = tosa.matmul %l, %t, %z, %z : (tensor<2x6x4xf32>, tensor<2x4x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x6xf32>
    return %p, %l : tensor<2x6x6xf32>, tensor<2x6x4xf32>)"))
    EXPECT_GT(each, 30);
  EXPECT_EQ(count("tosa.table"), 1);
}

// Behind the convolution a reshape would be between them.
TEST_F(Quantize, AFactorAheadOfAConstantMatrixIsTheSumsThatItIsOf) {
  EXPECT_GT(decibels("(%x: tensor<1x5x3xf32>, %y: tensor<1x5x3xf32>) -> tensor<1x5x2xf32>", R"(
    %m = "tosa.const"() {values = dense<[[[1.0, -2.0], [0.5, 0.25], [3.0, 0.0]]]> : tensor<1x3x2xf32>} : () -> tensor<1x3x2xf32>
    %e = "tosa.const"() {values = dense<0.125> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
    %s = tosa.add %x, %y : (tensor<1x5x3xf32>, tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
    %l = tosa.mul %s, %e, %shift : (tensor<1x5x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x5x3xf32>
    %p = tosa.matmul %l, %m, %z, %z : (tensor<1x5x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x2xf32>
    return %p : tensor<1x5x2xf32>)")[0],
            34);
  EXPECT_EQ(count("tosa.conv2d"), 1);
  EXPECT_EQ(count("tosa.table") + count("tosa.mul"), 0);
}

TEST_F(Quantize, PerChannelArithmeticBecomesADepthwiseConvolution) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %s = "tosa.const"() {values = dense<[[[[0.5, -2.0, 1.0]]]]> : tensor<1x1x1x3xf32>} : () -> tensor<1x1x1x3xf32>
    %o = "tosa.const"() {values = dense<[[[[1.0, 0.0, -1.0]]]]> : tensor<1x1x1x3xf32>} : () -> tensor<1x1x1x3xf32>
    %m = tosa.mul %x, %s, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    %a = tosa.sub %o, %m : (tensor<1x1x1x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %a : tensor<1x4x6x3xf32>)")[0],
            38);
  EXPECT_EQ(count("tosa.depthwise_conv2d"), 1);
  EXPECT_EQ(count("tosa.mul") + count("tosa.sub"), 0);
}

TEST_F(Quantize, EqualizesChannelsOfVeryDifferentRanges) {
  // The second channel's range is a thousandth of the first one's, yet its consumer sees it at full
  // resolution.
  EXPECT_GT(decibels("(%x: tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>", R"(
    %w0 = "tosa.const"() {values = dense<[[[[32.0, 1.0]]], [[[0.5, 1.0]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
    %b0 = "tosa.const"() {values = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
    %w1 = "tosa.const"() {values = dense<[[[[0.03125], [2.0]]]]> : tensor<1x1x2x1xf32>} : () -> tensor<1x1x2x1xf32>
    %c0 = tosa.conv2d %x, %w0, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x2xf32>
    %r = tosa.clamp %c0 {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
    %d = tosa.depthwise_conv2d %r, %w1, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x2xf32>, tensor<1x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x2xf32>
    return %d : tensor<1x4x6x2xf32>)")[0],
            36);
}

// A convolution into two channels, the second a 32nd of the first, and a depthwise one that makes
// them alike.
class TwoChannels : public Quantize {
protected:
  double decibelsOfBoth() {
    return decibels("(%x: tensor<1x8x12x2xf32>) -> tensor<1x8x12x2xf32>", R"(
    %w0 = "tosa.const"() {values = dense<[[[[31.7, 0.0]]], [[[0.0, 0.97]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
    %b0 = "tosa.const"() {values = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
    %w1 = "tosa.const"() {values = dense<[[[[0.03125], [1.03]]]]> : tensor<1x1x2x1xf32>} : () -> tensor<1x1x2x1xf32>
    %c0 = tosa.conv2d %x, %w0, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x8x12x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x12x2xf32>
    %d = tosa.depthwise_conv2d %c0, %w1, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x8x12x2xf32>, tensor<1x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x12x2xf32>
    return %d : tensor<1x8x12x2xf32>)")[0];
  }
};

TEST_F(TwoChannels, AChannelThatWasFaintOnMostSamplesMayBeLoud) {
  onCalibration_ = [](Tensor &samples) {
    const int64_t faint = samples.elements() / 16 * 15; // all but the last, which is half as loud
    for (int64_t i = 1; i < samples.elements(); i += 2)
      samples.data<float>()[i] *= i < faint ? 0.05f : 0.5f;
  };
  EXPECT_GT(decibelsOfBoth(), 30);
}

TEST_F(TwoChannels, EqualizationCanBeLeftOut) {
  const double with = decibelsOfBoth();
  options_.equalizes = false;
  EXPECT_LT(decibelsOfBoth(), with - 6);
}

// The weights that a convolution has, and its biases.
class Rounded : public Quantize {
protected:
  std::vector<std::vector<int64_t>> constantsOfConvolution() {
    decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x1xf32>", R"(
    %v = "tosa.const"() {values = dense<[[[[0.6968, 0.3342, 1.0]]]]> : tensor<1x1x1x3xf32>} : () -> tensor<1x1x1x3xf32>
    %d = tosa.conv2d %x, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<1x1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x1xf32>
    return %d : tensor<1x4x6x1xf32>)");
    std::vector<std::vector<int64_t>> found;
    integer_->walk([&](mlir::tosa::Conv2DOp op) {
      for (mlir::Value constant : {op.getWeight(), op.getBias()}) {
        std::vector<int64_t> &integers = found.emplace_back();
        auto values = constant.getDefiningOp<mlir::tosa::ConstOp>().getValues();
        for (const llvm::APInt &value : values.getValues<llvm::APInt>())
          integers.push_back(value.getSExtValue());
      }
    });
    return found;
  }
};

TEST_F(Rounded, WeightsToTheNearestIntegersWhereAskedFor) {
  onCalibration_ = [](Tensor &samples) { // channels are nearly alike
    for (int64_t i = 0; i < samples.elements(); ++i)
      samples.data<float>()[i] =
          samples.data<float>()[i / 3 * 3] + 0.01f * samples.data<float>()[i];
  };
  const auto together = constantsOfConvolution();
  options_.roundsTogether = false;
  const auto nearest = constantsOfConvolution();
  EXPECT_EQ(nearest[0], (std::vector<int64_t>{88, 42, 127})); // of 88.49 and 42.44
  EXPECT_EQ(std::accumulate(together[0].begin(), together[0].end(), int64_t{0}), 258);
}

TEST_F(Rounded, BiasesStayWhereAskedFor) {
  onCalibration_ = [](Tensor &samples) { // a mean that rounded weights shift
    for (int64_t i = 0; i < samples.elements(); ++i)
      samples.data<float>()[i] += 5;
  };
  options_.roundsTogether = false;
  const auto corrected = constantsOfConvolution();
  options_.correctsBiases = false;
  const auto kept = constantsOfConvolution();
  EXPECT_EQ(corrected[0], kept[0]);
  EXPECT_NE(corrected[1], kept[1]);
  EXPECT_EQ(kept[1][0], 0); // as the model has it
}

// Pools have 8 bits, whatever the parts of an output beside them need.
TEST_F(Quantize, APoolIsWidenedBehindItInAnOutputOfFineAndCoarseParts) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x6xf32>", R"(
    %factor = "tosa.const"() {values = dense<100.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %p = tosa.max_pool2d %x {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %m = tosa.mul %x, %factor, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    %r = tosa.concat %p, %m {axis = 3 : i32} : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x6xf32>
    return %r : tensor<1x4x6x6xf32>)")[0],
            34);
  integer_->walk([](mlir::tosa::MaxPool2dOp op) {
    EXPECT_TRUE(
        llvm::cast<mlir::RankedTensorType>(op.getInput().getType()).getElementType().isInteger(8));
  });
}

TEST_F(Quantize, RescalesOfEightBitsAreDefinedForAllValues) {
  // One operand is at a scale that is far coarser than the result's.
  decibels("(%x: tensor<1x4x6x3xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x3xf32>)", R"(
    %tiny = "tosa.const"() {values = dense<1.0e-12> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %none = "tosa.const"() {values = dense<0.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %p = tosa.mul %x, %tiny, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    %q = tosa.mul %x, %none, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    %d = tosa.add %q, %x : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %r = tosa.concat %p, %q {axis = 3 : i32} : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x6xf32>
    return %r, %d : tensor<1x4x6x6xf32>, tensor<1x4x6x3xf32>)");
  int seen = 0;
  integer_->walk([&](mlir::tosa::RescaleOp op) {
    if (!llvm::cast<mlir::RankedTensorType>(op.getInput().getType()).getElementType().isInteger(8))
      return;
    ++seen;
    auto shift = op.getShift().getDefiningOp<mlir::tosa::ConstOp>();
    EXPECT_GE(*shift.getValues().getValues<int8_t>().begin(), 9); // |value| <= 255 < 2^(shift - 1)
  });
  EXPECT_GT(seen, 0);
}

TEST_F(Quantize, SumsBeyondWhatARescaleIsDefinedForAreBounded) {
  // The clamp leaves a range that is far below what the weights can give.
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>", R"(
    %wl = "tosa.const"() {values = dense<[[[[5.0e9, 1.0e9, 2.0e9]]], [[[8.0e9, -1.0e9, 3.0e9]]], [[[1.0e9, 2.0e9, 3.0e9]]], [[[-5.0e9, 2.0e9, 1.0]]]]> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %c = tosa.conv2d %x, %wl, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %r : tensor<1x4x6x4xf32>)")[0],
            15);
  EXPECT_EQ(count("tosa.minimum"), 1);
  EXPECT_EQ(count("tosa.maximum"), 1);
}

TEST_F(Quantize, APadOutsideItsOperandsRangeWidensIt) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x8x3xf32>", R"(
    %hundred = "tosa.const"() {values = dense<100.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %ps = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
    %m = tosa.pad %x, %ps, %hundred : (tensor<1x4x6x3xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x8x3xf32>
    return %m : tensor<1x4x8x3xf32>)")[0],
            45);
}

TEST_F(Quantize, ABiasBesideNothingIsKept) {
  // The convolution reads what is zero on all samples.
  std::string convolution = convolve;
  convolution.replace(convolution.find("%x"), 2, "%n");
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>",
                     R"(
    %none = "tosa.const"() {values = dense<0.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %n = tosa.mul %x, %none, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>)" +
                         convolution + "return %c : tensor<1x4x6x4xf32>")[0],
            60);
}

TEST_F(Quantize, ResizesByInterpolation) {
  EXPECT_GT(decibels("(%x: tensor<1x3x3x2xf32>) -> tensor<1x5x5x2xf32>", R"(
    %s = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %o = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %r = tosa.resize %x, %s, %o, %o {mode = BILINEAR} : (tensor<1x3x3x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x5x5x2xf32>
    return %r : tensor<1x5x5x2xf32>)")[0],
            30);
}

TEST_F(Quantize, GivesTheSameAtAnyNumberOfThreads) {
  real_ = parse("func.func @main(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32> {" + constants +
                convolve + "return %c : tensor<1x4x6x4xf32>}");
  CalibrationData data = randomCalibration(*real_, 21, 1);
  for (Calibration method : {Calibration::MinMax, Calibration::Mse}) {
    std::set<std::string> texts;
    for (unsigned threads : {0, 1, 2, 3, 8, 100}) {
      QuantizeOptions options;
      options.method = method;
      options.threads = threads;
      integer_ = quantize(*real_, data, options, nullptr);
      std::string text;
      llvm::raw_string_ostream stream(text);
      integer_->print(stream);
      texts.insert(text);
    }
    EXPECT_EQ(texts.size(), 1u) << int(method);
  }
}

// Whatever the samples hold: here zeros.
TEST_F(Quantize, PixelsKeepTheirValues) {
  real_ =
      parse(R"(func.func @main(%x: tensor<1x4xi32> {tilewright.type = "uint8"}) -> tensor<1x4xf32> {
    %y = tosa.cast %x : (tensor<1x4xi32>) -> tensor<1x4xf32>
    return %y : tensor<1x4xf32> })");
  integer_ = quantize(*real_, randomCalibration(*real_, 2, 1), {}, nullptr);
  EXPECT_EQ(scaleOf("tilewright.scale", true, 0), 1);
  EXPECT_EQ(scaleOf("tilewright.zero_point", true, 0), -128);
}

TEST_F(Quantize, ComparesTheDifferenceOfReals) {
  real_ = parse(R"(func.func @main(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4xi1> {
    %z = tosa.greater %x, %y : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xi1>
    return %z : tensor<1x4xi1> })");
  integer_ = quantize(*real_, randomCalibration(*real_, 2, 1), {}, nullptr);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*integer_)));
  EXPECT_EQ(count("tosa.sub"), 1);
  EXPECT_EQ(count("tosa.greater"), 1);
  auto main = integer_->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_FALSE(main.getResultAttr(0, "tilewright.scale"));
}

TEST_F(Quantize, SelectsRealsAtOneScale) {
  real_ = parse(
      R"(func.func @main(%c: tensor<1x4xi1>, %x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %z = tosa.select %c, %x, %y : (tensor<1x4xi1>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    return %z : tensor<1x4xf32> })");
  integer_ = quantize(*real_, randomCalibration(*real_, 2, 1), {}, nullptr);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*integer_)));
  EXPECT_EQ(count("tosa.select"), 1);
  EXPECT_GT(scaleOf("tilewright.scale", true, 0), 0);
}

TEST_F(Quantize, IntegersComputeAsTheyAre) {
  real_ = parse(
      R"(func.func @main(%i: tensor<1x4xi32>, %x: tensor<1x4xf32>) -> (tensor<1x4xi32>, tensor<1x4xf32>) {
    %s = tosa.add %i, %i : (tensor<1x4xi32>, tensor<1x4xi32>) -> tensor<1x4xi32>
    return %s, %x : tensor<1x4xi32>, tensor<1x4xf32> })");
  integer_ = quantize(*real_, randomCalibration(*real_, 2, 1), {}, nullptr);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*integer_)));
  EXPECT_EQ(count("tosa.add"), 1);
  auto main = integer_->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_FALSE(main.getArgAttr(0, "tilewright.scale"));
}

} // namespace

} // namespace tilewright
