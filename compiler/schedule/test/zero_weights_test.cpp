#include "zero_weights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

// Of a 1x1 convolution of 4 channels to 4 with these weights, on an array of 2 rows and 2 columns.
std::string squaresOf(const std::string &weights, int zeroPoint = 0) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect>();
  const std::string text = R"(
func.func @main(%x: tensor<1x5x5x4xi8>) -> tensor<1x5x5x4xi32> {
  %w = "tosa.const"() {values = dense<)" +
                           weights +
                           R"(> : tensor<4x1x1x4xi8>} : () -> tensor<4x1x1x4xi8>
  %b = "tosa.const"() {values = dense<0> : tensor<4xi32>} : () -> tensor<4xi32>
  %y = kernel.conv2d %x, %w, %b {pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = )" +
                           std::to_string(zeroPoint) + R"( : i64}
    : (tensor<1x5x5x4xi8>, tensor<4x1x1x4xi8>, tensor<4xi32>) -> tensor<1x5x5x4xi32>
  return %y : tensor<1x5x5x4xi32>
}
)";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  std::string squares;
  module->walk([&](kernel::Conv2DOp conv) { squares = ZeroWeights(conv).squares(2, 2); });
  return squares;
}

// Channels of the result from top to bottom.
TEST(ZeroWeights, AreFoundSquareBySquare) {
  EXPECT_EQ(squaresOf("[[[[1, 2, 0, 0]]], [[[3, 4, 0, 0]]], "
                      "[[[0, 0, 0, 0]]], [[[0, 0, 0, 5]]]]"),
            "1001");
}

TEST(ZeroWeights, AreNoneWhereEachSquareHasAnotherWeight) {
  EXPECT_EQ(squaresOf("[[[[1, 0, 0, 1]]], [[[0, 0, 0, 0]]], "
                      "[[[0, 1, 0, 0]]], [[[0, 0, 1, 0]]]]"),
            "");
}

TEST(ZeroWeights, MayBeAll) { EXPECT_EQ(squaresOf("0"), "0000"); }

TEST(ZeroWeights, AreWhatTheZeroPointIs) {
  EXPECT_EQ(squaresOf("3", 3), "0000");
  EXPECT_EQ(squaresOf("0", 3), "");
}

} // namespace

} // namespace tilewright
