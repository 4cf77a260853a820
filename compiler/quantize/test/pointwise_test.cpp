// Element-wise operators: tables, and arithmetic on two tensors.
#include "quantize_fixture.h"

namespace tilewright {

namespace {

TEST_F(Quantize, HardSwishIsOneTable) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>", convolve + R"(
    %a = tosa.add %c, %three : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x6x4xf32>
    %k = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %m = tosa.mul %c, %k, %shift : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    %s = tosa.mul %m, %sixth, %shift : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    return %s : tensor<1x4x6x4xf32>)")[0],
            35);
  EXPECT_EQ(count("tosa.table"), 1);
  EXPECT_EQ(count("tosa.mul"), 0);
  integer_->walk([](mlir::tosa::TableOp op) { // only the result is rounded to 8 bits
    auto type = llvm::cast<mlir::RankedTensorType>(op.getInput1().getType());
    EXPECT_TRUE(type.getElementType().isInteger(16));
  });
}

TEST_F(Quantize, EqualizesChannelsBehindATable) {
  // The first channel's tanh fills its range, the second one's stays below a tenth, yet its
  // consumer sees it at full resolution.
  EXPECT_GT(decibels("(%x: tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>", R"(
    %w0 = "tosa.const"() {values = dense<[[[[32.0, 1.0]]], [[[0.02, 0.04]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
    %b0 = "tosa.const"() {values = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
    %w1 = "tosa.const"() {values = dense<[[[[0.1], [4.0]]]]> : tensor<1x1x2x1xf32>} : () -> tensor<1x1x2x1xf32>
    %c0 = tosa.conv2d %x, %w0, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x2xf32>
    %t = tosa.tanh %c0 : (tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
    %d = tosa.depthwise_conv2d %t, %w1, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x2xf32>, tensor<1x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x2xf32>
    return %d : tensor<1x4x6x2xf32>)")[0],
            30);
  bool isPerChannel = false;
  integer_->walk([&](mlir::tosa::TableOp op) {
    isPerChannel = llvm::cast<mlir::tosa::RescaleOp>(*op->user_begin()).getPerChannel();
  });
  EXPECT_TRUE(isPerChannel);
}

TEST_F(Quantize, FewValuesTellNoChannelsRange) {
  // As above, of one pixel: on other samples channels would leave the ranges that some values show.
  decibels("(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>", R"(
    %w0 = "tosa.const"() {values = dense<[[[[32.0, 1.0]]], [[[0.02, 0.04]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
    %b0 = "tosa.const"() {values = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
    %w2 = "tosa.const"() {values = dense<[[[[0.1, 4.0]]], [[[4.0, 0.1]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
    %c0 = tosa.conv2d %x, %w0, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
    %t = tosa.tanh %c0 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
    %d = tosa.conv2d %t, %w2, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
    return %d : tensor<1x1x1x2xf32>)");
  int tables = 0;
  integer_->walk([&](mlir::tosa::TableOp op) {
    ++tables;
    EXPECT_FALSE(llvm::cast<mlir::tosa::RescaleOp>(*op->user_begin()).getPerChannel());
  });
  EXPECT_EQ(tables, 1);
}

// Element-wise functions of an argument: each is one table.
struct Function {
  const char *name;
  const char *body; // of %x to %y, both tensor<1x4x6x3xf32>
};
class Tables : public Quantize, public ::testing::WithParamInterface<Function> {};
TEST_P(Tables, StayNearTheFunction) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>",
                     std::string(GetParam().body) + "\nreturn %y : tensor<1x4x6x3xf32>")[0],
            32);
  EXPECT_EQ(count("tosa.table"), 1);
}
#define UNARY(op) "%y = tosa." op " %x : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>"
#define BINARY(op) " : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x6x3xf32>"
INSTANTIATE_TEST_SUITE_P(
    , Tables,
    ::testing::Values(Function{"Sigmoid", UNARY("sigmoid")}, Function{"Tanh", UNARY("tanh")},
                      Function{"Exp", UNARY("exp")}, Function{"Erf", UNARY("erf")},
                      Function{"Abs", UNARY("abs")}, Function{"LeakyRelu", R"(
                        %s = tosa.mul %x, %sixth, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
                        %y = tosa.maximum %x, %s : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>)"},
                      Function{"Shifted", "%y = tosa.add %x, %three" BINARY("add")}),
    [](const auto &info) { return std::string(info.param.name); });

// Two tensors of different ranges, one of them broadcast.
class Binary : public Quantize, public ::testing::WithParamInterface<const char *> {};
TEST_P(Binary, StaysNearTheFloatResult) {
  std::string op = GetParam(), shift = op == "mul" ? ", %shift" : "",
              shiftType = op == "mul" ? ", tensor<1xi8>" : "";
  std::string scaled = "%s = tosa.mul %y, %three, %shift : (tensor<1x1x1x3xf32>, "
                       "tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x3xf32>\n";
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>, %y: tensor<1x1x1x3xf32>) -> tensor<1x4x6x3xf32>",
                     scaled + "%r = tosa." + op + " %x, %s" + shift +
                         " : (tensor<1x4x6x3xf32>, tensor<1x1x1x3xf32>" + shiftType +
                         ") -> tensor<1x4x6x3xf32>\nreturn %r : tensor<1x4x6x3xf32>")[0],
            33);
  EXPECT_EQ(count("tosa." + op), 1);
}
INSTANTIATE_TEST_SUITE_P(, Binary, ::testing::Values("add", "sub", "mul", "maximum", "minimum"),
                         [](const auto &info) { return std::string(info.param); });

TEST_F(Quantize, AClampOutsideItsOperandsRangeGivesItsBound) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %r = tosa.clamp %x {min_val = 50.0 : f32, max_val = 60.0 : f32} : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %r : tensor<1x4x6x3xf32>)")[0],
            60);
}

TEST_F(Quantize, AClampWithinAStepOfItsOperandHasStepsOfItsOwn) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %r = tosa.clamp %x {min_val = 0.0 : f32, max_val = 0.01 : f32} : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %r : tensor<1x4x6x3xf32>)")[0],
            15);
}

TEST_F(Quantize, EveryCalibrationMethodGivesAUsableGraph) {
  for (Calibration method :
       {Calibration::MinMax, Calibration::Percentile, Calibration::Mse, Calibration::Entropy})
    EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>",
                       UNARY("tanh") "return %y : tensor<1x4x6x3xf32>", method)[0],
              20)
        << int(method);
}

} // namespace

} // namespace tilewright
