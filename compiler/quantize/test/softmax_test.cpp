// Softmax, and what reads it.
#include "quantize_fixture.h"

#include <tuple>

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

// 32 bits of a row would fill the accumulators.
TEST_F(Quantize, LogitsOfLongRowsHaveSixteenBits) {
  for (auto [classes, bits] : {std::pair("64", 32), {"700", 16}}) {
    const std::string n = classes, type = "tensor<1x4x6x" + n + "xf32>";
    EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> " + type,
                       R"(
    %wl = "tosa.const"() {values = dense<0.3> : tensor<)" +
                           n + R"(x1x1x3xf32>} : () -> tensor<)" + n + R"(x1x1x3xf32>
    %bl = "tosa.const"() {values = dense<0.5> : tensor<)" +
                           n + "xf32>} : () -> tensor<" + n + R"(xf32>
    %l = tosa.conv2d %x, %wl, %bl, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<)" +
                           n + "x1x1x3xf32>, tensor<" + n +
                           "xf32>, tensor<1xf32>, tensor<1xf32>) -> " + type +
                           softmaxOf("%l", std::stoi(n)) + "return %y : " + type)[0],
              30);
    int found = 0;
    integer_->walk([&, bits = bits](mlir::tosa::Conv2DOp op) {
      for (mlir::Operation *user : op->getUsers())
        found += llvm::cast<mlir::RankedTensorType>(user->getResult(0).getType())
                     .getElementType()
                     .isInteger(static_cast<unsigned>(bits));
    });
    EXPECT_EQ(found, 1) << n;
  }
}

// Many probabilities that 8 bits on a grid of 1/256 could not tell from 0.
TEST_F(Quantize, AProductDividesByTheSumOfExponentialsBehindIt) {
  EXPECT_GT(decibels("(%x: tensor<1x8x1024xf32>, %v: tensor<1x1024x16xf32>) -> tensor<1x8x16xf32>",
                     softmaxOver("tensor<1x8x1024xf32>", "tensor<1x8x1xf32>", "%x") + R"(
    %o = tosa.matmul %y, %v, %z, %z : (tensor<1x8x1024xf32>, tensor<1x1024x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x16xf32>
    return %o : tensor<1x8x16xf32>)")[0],
            33);
  ;
}

// Of what a mask leaves out nothing is told; of the others as much as without it.
TEST_F(Quantize, AMaskOfAnySizeCostsNothing) {
  for (const char *mask : {"-10000.0", "-3.0e38", "0xFF800000"}) {
    std::string values;
    for (int i = 0; i < 64; ++i)
      values += std::string(i ? ", " : "") + (i % 3 ? "0.0" : mask);
    EXPECT_GT(
        decibels("(%q: tensor<1x8x16xf32>, %k: tensor<1x16x64xf32>, %v: tensor<1x64x16xf32>) -> "
                 "tensor<1x8x16xf32>",
                 R"(%mask = "tosa.const"() {values = dense<[[[)" + values +
                     R"(]]]> : tensor<1x1x64xf32>} : () -> tensor<1x1x64xf32>
    %s = tosa.matmul %q, %k, %z, %z : (tensor<1x8x16xf32>, tensor<1x16x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x64xf32>
    %a = tosa.add %s, %mask : (tensor<1x8x64xf32>, tensor<1x1x64xf32>) -> tensor<1x8x64xf32>
    )" + softmaxOver("tensor<1x8x64xf32>", "tensor<1x8x1xf32>", "%a") +
                     R"(
    %o = tosa.matmul %y, %v, %z, %z : (tensor<1x8x64xf32>, tensor<1x64x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x16xf32>
    return %o : tensor<1x8x16xf32>)")[0],
        27)
        << mask;
  }
}

// A mask of its own for each of a batch, behind scores of 8 bits.
TEST_F(Quantize, AMaskOfABatchLeavesTheScoresTheirSteps) {
  std::string values;
  for (int i = 0; i < 2 * 64; ++i)
    values += std::string(i % 64 ? ", " : i ? "]], [[" : "") + (i % 3 ? "0.0" : "-3.0e38");
  EXPECT_GT(
      decibels("(%q: tensor<2x8x16xf32>, %k: tensor<2x16x64xf32>, %v: tensor<2x64x16xf32>) -> "
               "tensor<2x8x16xf32>",
               R"(%mask = "tosa.const"() {values = dense<[[[)" + values +
                   R"(]]]> : tensor<2x1x64xf32>} : () -> tensor<2x1x64xf32>
    %s = tosa.matmul %q, %k, %z, %z : (tensor<2x8x16xf32>, tensor<2x16x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x64xf32>
    %m = tosa.tanh %s : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %a = tosa.add %m, %mask : (tensor<2x8x64xf32>, tensor<2x1x64xf32>) -> tensor<2x8x64xf32>
    )" + softmaxOver("tensor<2x8x64xf32>", "tensor<2x8x1xf32>", "%a") +
                   R"(
    %o = tosa.matmul %y, %v, %z, %z : (tensor<2x8x64xf32>, tensor<2x64x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x16xf32>
    return %o : tensor<2x8x16xf32>)")[0],
      25);
}

// Rows of more than 640 scores, by blocks that are weighed against each other; of more than three
// blocks, with what those before them have come to. Some blocks are left out whole, and one of the
// odd lengths is no multiple of a block.
class LongRow : public Quantize, public ::testing::WithParamInterface<std::tuple<int, int>> {};
TEST_P(LongRow, IsTakenByBlocks) {
  const auto [length, leftOut] = GetParam(); // leftOut: the first ones, or, negative, the last ones
  const std::string n = std::to_string(length);
  std::string values;
  for (int i = 0; i < length; ++i)
    values += std::string(i ? ", " : "") +
              ((leftOut < 0 ? i >= length + leftOut : i < leftOut) ? "-10000.0" : "0.0");
  EXPECT_GT(decibels("(%q: tensor<1x8x16xf32>, %k: tensor<1x16x" + n + "xf32>, %v: tensor<1x" + n +
                         "x16xf32>) -> tensor<1x8x16xf32>",
                     R"(%mask = "tosa.const"() {values = dense<[[[)" + values +
                         "]]]> : tensor<1x1x" + n + "xf32>} : () -> tensor<1x1x" + n +
                         R"(xf32>
    %s = tosa.matmul %q, %k, %z, %z : (tensor<1x8x16xf32>, tensor<1x16x)" +
                         n + "xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x" + n +
                         "xf32>\n%a = tosa.add %s, %mask : (tensor<1x8x" + n +
                         "xf32>, tensor<1x1x" + n + "xf32>) -> tensor<1x8x" + n + "xf32>\n" +
                         softmaxOver("tensor<1x8x" + n + "xf32>", "tensor<1x8x1xf32>", "%a") +
                         "%o = tosa.matmul %y, %v, %z, %z : (tensor<1x8x" + n + "xf32>, tensor<1x" +
                         n +
                         R"(x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x16xf32>
    return %o : tensor<1x8x16xf32>)")[0],
            25);
  const int blocks = length > 640 ? (length + 351) / 352 : 1;
  EXPECT_EQ(count("tosa.matmul"), 2 * blocks);
  // No row stands anywhere whole.
  integer_->walk([&, row = length](mlir::tosa::MatMulOp op) {
    if (blocks > 1)
      EXPECT_LT(llvm::cast<mlir::RankedTensorType>(op.getOutput().getType()).getShape()[2], row);
  });
}
INSTANTIATE_TEST_SUITE_P(, LongRow,
                         ::testing::Combine(::testing::Values(640, 641, 700, 1024),
                                            ::testing::Values(0, 300, -300)));
INSTANTIATE_TEST_SUITE_P(OfMoreThanThreeBlocks, LongRow,
                         ::testing::Combine(::testing::Values(1500),
                                            ::testing::Values(0, 1100, -1100)));

// Each row is brought to the same deviation.
TEST_F(Quantize, NormalizationTakesRowsOfOtherDeviations) {
  precision_ = Precision::Mixed;
  EXPECT_GT(decibels("(%x: tensor<1x6x64xf32>) -> tensor<1x6x64xf32>", R"(
    %g = "tosa.const"() {values = dense<[[[1.0], [30.0], [10.0], [1.5], [20.0], [4.0]]]> : tensor<1x6x1xf32>} : () -> tensor<1x6x1xf32>
    %n = "tosa.const"() {values = dense<0.015625> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
    %r = tosa.mul %x, %g, %shift : (tensor<1x6x64xf32>, tensor<1x6x1xf32>, tensor<1xi8>) -> tensor<1x6x64xf32>
    %s = tosa.reduce_sum %r {axis = 2 : i32} : (tensor<1x6x64xf32>) -> tensor<1x6x1xf32>
    %m = tosa.mul %s, %n, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
    %d = tosa.sub %r, %m : (tensor<1x6x64xf32>, tensor<1x6x1xf32>) -> tensor<1x6x64xf32>
    %q = tosa.mul %d, %d, %shift : (tensor<1x6x64xf32>, tensor<1x6x64xf32>, tensor<1xi8>) -> tensor<1x6x64xf32>
    %t = tosa.reduce_sum %q {axis = 2 : i32} : (tensor<1x6x64xf32>) -> tensor<1x6x1xf32>
    %v = tosa.mul %t, %n, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
    %i = tosa.rsqrt %v : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %y = tosa.mul %d, %i, %shift : (tensor<1x6x64xf32>, tensor<1x6x1xf32>, tensor<1xi8>) -> tensor<1x6x64xf32>
    return %y : tensor<1x6x64xf32>)")[0],
            30);
}

} // namespace

} // namespace tilewright
