// Each rule of the quantizer on a small graph: the integer graph is valid TOSA, holds only
// integers, and stays near the float graph.
#include "tilewright/compiler/quantize/quantize.h"

#include "tilewright/compiler/float/float_execution.h"
#include "tilewright/support/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace tilewright {

namespace {

using ::testing::HasSubstr;

class Quantize : public ::testing::Test {
protected:
  void SetUp() override {
    context_.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
    context_.allowUnregisteredDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module);
    return module;
  }

  // Quantizes a function of this signature and body, and gives the decibels of each result's signal
  // over its quantization noise.
  std::vector<double> decibels(const std::string &signature, const std::string &body,
                               Calibration method = Calibration::MinMax) {
    real_ = parse("func.func @main" + signature + " {" + constants + body + "}");
    CalibrationData data = randomCalibration(*real_, 16, 1);
    if (onLevels_)
      for (auto &[name, tensor] : data.arrays)
        for (int64_t i = 0; i < tensor.elements(); ++i) {
          float &x = tensor.data<float>()[i];
          x = std::nearbyint(std::clamp(x, -1.0f, 1.0f) * 127) / 127;
        }
    QuantizeOptions options;
    options.method = method;
    options.precision = precision_;
    options.layerReport = true;
    report_ = {};
    integer_ = quantize(*real_, data, options, &report_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*integer_)));
    EXPECT_FALSE(holdsFloats());
    return compare(data);
  }

  int count(llvm::StringRef name) {
    int found = 0;
    integer_->walk([&](mlir::Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }

  double scaleOf(const char *attribute, bool result, unsigned index) {
    auto main = integer_->lookupSymbol<mlir::func::FuncOp>("main");
    mlir::Attribute found =
        result ? main.getResultAttr(index, attribute) : main.getArgAttr(index, attribute);
    if (auto real = llvm::dyn_cast<mlir::FloatAttr>(found))
      return real.getValueAsDouble();
    return double(llvm::cast<mlir::IntegerAttr>(found).getInt());
  }

  // A scalar, weights and the like that bodies use.
  const std::string constants = R"(
    %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
    %three = "tosa.const"() {values = dense<3.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %sixth = "tosa.const"() {values = dense<0.1666667> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %w = "tosa.const"() {values = dense<[[[[0.5, -0.25, 1.0]]], [[[8.0, 2.0, -4.0]]], [[[0.01, 0.02, 0.03]]], [[[-1.0, 0.0, 1.0]]]]> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
    %b = "tosa.const"() {values = dense<[0.5, -1.0, 0.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  )";
  const std::string convolve = R"(
    %c = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32> loc("body"("Conv"))
  )";

  Precision precision_ = Precision::Standard;
  bool onLevels_ = false;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> real_, integer_;
  QuantizationReport report_;

private:
  bool holdsFloats() {
    bool found = false;
    integer_->walk([&](mlir::Operation *op) {
      for (mlir::Type type : op->getResultTypes())
        if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
          found |= llvm::isa<mlir::FloatType>(tensor.getElementType());
    });
    return found;
  }

  std::vector<double> compare(const CalibrationData &data) {
    auto realRun = FloatExecutable::create(*real_), integerRun = FloatExecutable::create(*integer_);
    auto main = real_->lookupSymbol<mlir::func::FuncOp>("main");
    std::vector<double> signal(main.getNumResults(), 0), noise(main.getNumResults(), 0);
    for (int64_t sample = 0; sample < 16; ++sample) {
      std::vector<Tensor> real, integer;
      for (unsigned i = 0; i < main.getNumArguments(); ++i) {
        auto shape =
            llvm::cast<mlir::RankedTensorType>(main.getArgument(i).getType()).getShape().vec();
        const Tensor &all = data.arrays.at("arg" + std::to_string(i));
        real.push_back(makeTensor(DType::F32, shape));
        integer.push_back(makeTensor(DType::I8, shape));
        double scale = scaleOf("tilewright.scale", false, i),
               zero = scaleOf("tilewright.zero_point", false, i);
        for (int64_t k = 0, n = real.back().elements(); k < n; ++k) {
          float x = all.data<float>()[sample * n + k];
          real.back().data<float>()[k] = x;
          integer.back().data<int8_t>()[k] =
              static_cast<int8_t>(std::clamp(std::nearbyint(x / scale) + zero, -128.0, 127.0));
        }
      }
      std::vector<Tensor> expected = realRun->run(real), actual = integerRun->run(integer);
      for (size_t r = 0; r < expected.size(); ++r) {
        double scale = scaleOf("tilewright.scale", true, r),
               zero = scaleOf("tilewright.zero_point", true, r);
        for (int64_t k = 0; k < expected[r].elements(); ++k) {
          double q = actual[r].dtype == DType::I16 ? actual[r].data<int16_t>()[k]
                                                   : actual[r].data<int8_t>()[k];
          double x = expected[r].data<float>()[k], difference = (q - zero) * scale - x;
          signal[r] += x * x;
          noise[r] += difference * difference;
        }
      }
    }
    std::vector<double> result;
    for (size_t r = 0; r < signal.size(); ++r)
      result.push_back(10 * std::log10(signal[r] / std::max(noise[r], 1e-30)));
    return result;
  }
};

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
              36);
  }
}

TEST_F(Quantize, HardSwishIsOneTable) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x4xf32>", convolve + R"(
    %a = tosa.add %c, %three : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x6x4xf32>
    %k = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %m = tosa.mul %c, %k, %shift : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    %s = tosa.mul %m, %sixth, %shift : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    return %s : tensor<1x4x6x4xf32>)")[0],
            37);
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
            32);
  bool isPerChannel = false;
  integer_->walk([&](mlir::tosa::TableOp op) {
    isPerChannel = llvm::cast<mlir::tosa::RescaleOp>(*op->user_begin()).getPerChannel();
  });
  EXPECT_TRUE(isPerChannel);
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

// Element-wise functions of an argument: each is one table.
struct Function {
  const char *name;
  const char *body; // of %x to %y, both tensor<1x4x6x3xf32>
};
class Tables : public Quantize, public ::testing::WithParamInterface<Function> {};
TEST_P(Tables, StayNearTheFunction) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>",
                     std::string(GetParam().body) + "\nreturn %y : tensor<1x4x6x3xf32>")[0],
            33);
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
            34);
  EXPECT_EQ(count("tosa.rescale"),
            2); // the convolution's own and the argument's: nothing is rescaled twice
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

// A softmax along the last dimension of %NAME, 1x4x6xN, in the importer's form: gives %y.
std::string softmaxOf(const std::string &name, int n) {
  std::string t = "tensor<1x4x6x" + std::to_string(n) + "xf32>", r = "tensor<1x4x6x1xf32>";
  return "%mm = tosa.reduce_max " + name + " {axis = 3 : i32} : (" + t + ") -> " + r +
         "\n%dd = tosa.sub " + name + ", %mm : (" + t + ", " + r + ") -> " + t +
         "\n%ee = tosa.exp %dd : (" + t + ") -> " + t +
         "\n%ss = tosa.reduce_sum %ee {axis = 3 : i32} : (" + t + ") -> " + r +
         "\n%ii = tosa.reciprocal %ss : (" + r + ") -> " + r +
         "\n%y = tosa.mul %ee, %ii, %shift : (" + t + ", " + r + ", tensor<1xi8>) -> " + t + "\n";
}

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

TEST_F(Quantize, AClampOutsideItsOperandsRangeGivesItsBound) {
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %r = tosa.clamp %x {min_val = 50.0 : f32, max_val = 60.0 : f32} : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %r : tensor<1x4x6x3xf32>)")[0],
            60);
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

// Extended precision against standard, on inputs that stand on the levels of 8 bits: all noise is
// made inside.
class Extended : public Quantize {
protected:
  // How many decibels the first result gains when `body` goes on from %c, a convolution's result.
  double gain(const std::string &result, const std::string &body) {
    onLevels_ = true;
    auto with = [&](Precision precision) {
      precision_ = precision;
      return decibels("(%x: tensor<1x4x6x3xf32>) -> " + result, convolve + body)[0];
    };
    double standard = with(Precision::Standard);
    return with(Precision::Extended) - standard;
  }

  // A constant of seeded weights, as an operation.
  static std::string weights(const std::string &name, const std::vector<int64_t> &shape) {
    std::mt19937 random(3);
    std::string type, values;
    int64_t count = 1;
    for (int64_t size : shape) {
      type += std::to_string(size) + "x";
      count *= size;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t inner = count, depth = 0; depth < int64_t(shape.size()); ++depth) {
        values += i % inner == 0 ? "[" : "";
        inner /= shape[depth];
      }
      values += std::to_string(double(random() % 2001) / 1000 - 1);
      std::string closing;
      for (int64_t inner = count, depth = 0; depth < int64_t(shape.size()); ++depth) {
        closing += (i + 1) % inner == 0 ? "]" : "";
        inner /= shape[depth];
      }
      values += closing + (i + 1 < count ? ", " : "");
    }
    return "%" + name + " = \"tosa.const\"() {values = dense<" + values + "> : tensor<" + type +
           "f32>} : () -> tensor<" + type + "f32>\n";
  }
};

TEST_F(Extended, PointwiseConvolutionsReadAllPartsAtOnce) {
  EXPECT_GT(gain("tensor<1x4x6x5xf32>", weights("v", {5, 1, 1, 4}) + R"(
    %d = tosa.conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<5x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x5xf32>
    return %d : tensor<1x4x6x5xf32>)"),
            3);
  EXPECT_EQ(count("tosa.conv2d"), 2);
}

TEST_F(Extended, OtherConvolutionsAreSumsOfTwo) {
  EXPECT_GT(gain("tensor<1x2x3x5xf32>", weights("v", {5, 3, 3, 4}) + R"(
    %d = tosa.conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x4x6x4xf32>, tensor<5x3x3x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x5xf32>
    return %d : tensor<1x2x3x5xf32>)"),
            1);
  EXPECT_EQ(count("tosa.conv2d"), 3);
}

TEST_F(Extended, SumsAndProductsAndTablesTakeSixteenBits) {
  for (const char *function : {"%y = tosa.add %c, %t", "%y = tosa.mul %c, %t, %shift"}) {
    std::string operands = std::string(function).find("shift") == std::string::npos
                               ? "(tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>)"
                               : "(tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>, tensor<1xi8>)";
    EXPECT_GT(gain("tensor<1x4x6x4xf32>", R"(
    %t = tosa.tanh %c : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    )" + std::string(function) + " : " + operands +
                                              R"( -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)"),
              3)
        << function;
  }
}

TEST_F(Extended, ATableOfAPartOfSixteenBitsYieldsSixteen) {
  EXPECT_GT(gain("tensor<1x4x6x2xf32>", R"(
    %s = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %t = tosa.const_shape {values = dense<[1, 4, 6, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %p = tosa.slice %c, %s, %t : (tensor<1x4x6x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x6x2xf32>
    %g = tosa.tanh %p : (tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
    %y = tosa.mul %p, %g, %shift : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>, tensor<1xi8>) -> tensor<1x4x6x2xf32>
    return %y : tensor<1x4x6x2xf32>)"),
            5);
}

TEST_F(Extended, ATableOfEightBitsYieldsEight) {
  precision_ = Precision::Extended;
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %s = tosa.sigmoid %x : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %y = tosa.add %s, %x : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %y : tensor<1x4x6x3xf32>)")[0],
            35);
}

TEST_F(Extended, DepthwiseConvolutionsAndAveragesReadEightBitsOfSixteen) {
  EXPECT_GT(gain("tensor<1x4x6x4xf32>", weights("v", {3, 3, 4, 1}) + R"(
    %d = tosa.depthwise_conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<3x3x4x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %p = tosa.avg_pool2d %c, %z, %z {acc_type = f32, kernel = array<i64: 4, 6>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
    %y = tosa.add %d, %p : (tensor<1x4x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x4x6x4xf32>
    %s = tosa.add %y, %c : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %s : tensor<1x4x6x4xf32>)"),
            1);
}

TEST_F(Quantize, EveryCalibrationMethodGivesAUsableGraph) {
  for (Calibration method :
       {Calibration::MinMax, Calibration::Percentile, Calibration::Mse, Calibration::Entropy})
    EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>",
                       UNARY("tanh") "return %y : tensor<1x4x6x3xf32>", method)[0],
              20)
        << int(method);
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

// What precision is chosen, and by what.
class Automatic : public Extended {
protected:
  // Runs it on data that stands on the levels of 8 bits; returns the first result's decibels.
  double run(const std::string &result, const std::string &body) {
    onLevels_ = true;
    precision_ = Precision::Automatic;
    return decibels("(%x: tensor<1x4x6x3xf32>) -> " + result, convolve + body)[0];
  }
  // Convolutions behind one another, of an operator and with weights of a shape.
  std::string chain(const std::string &op, const std::vector<int64_t> &shape) {
    std::string body = weights("v", shape), from = "%c", type = "tensor<";
    for (int64_t size : shape)
      type += std::to_string(size) + "x";
    for (int i = 0; i < 8; ++i) {
      std::string to = std::to_string(i);
      body +=
          "%d" + to + " = tosa." + op + " " + from +
          R"(, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
        : (tensor<1x4x6x4xf32>, )" +
          type + R"(f32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
        %r)" +
          to + " = tosa.clamp %d" + to +
          R"( {min_val = -1.0 : f32, max_val = 1.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
        )";
      from = "%r" + to;
    }
    return body + "return " + from + " : tensor<1x4x6x4xf32>";
  }
};

TEST_F(Automatic, EightBitsSufficeForOneConvolution) {
  double found = run("tensor<1x4x6x4xf32>", "return %c : tensor<1x4x6x4xf32>");
  EXPECT_EQ(report_.choice->precision, Precision::Standard);
  EXPECT_NEAR(report_.choice->standard, found, 1);
  EXPECT_FALSE(report_.choice->extended);
}

TEST_F(Automatic, SixteenBitsWhereManyOperatorsAddTheirNoise) {
  double found = run("tensor<1x4x6x4xf32>", chain("conv2d", {4, 1, 1, 4}));
  EXPECT_EQ(report_.choice->precision, Precision::Extended);
  EXPECT_LT(report_.choice->standard, 40);
  EXPECT_GT(*report_.choice->extended, report_.choice->standard + 4);
  EXPECT_NEAR(*report_.choice->extended, found, 3); // though all share their weights
}

TEST_F(Automatic, ExpectsTheNoiseOfConstants) {
  double found = run("tensor<1x4x6x4xf32>", R"(
    %k = "tosa.const"() {values = dense<[[[[0.003, 0.013, 0.007, 10.0]]]]> : tensor<1x1x1x4xf32>} : () -> tensor<1x1x1x4xf32>
    %a = tosa.abs %c : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %y = tosa.maximum %a, %k : (tensor<1x4x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)");
  EXPECT_NEAR(report_.choice->standard, found, 3);
}

// No sample is 0, but many are rounded to it.
TEST_F(Automatic, WhatIsNoNumberStandsForZeroAsInATable) {
  precision_ = Precision::Automatic;
  double found = decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %a = tosa.abs %x : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %l = tosa.log %a : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %y = tosa.mul %a, %l, %shift : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    return %y : tensor<1x4x6x3xf32>)")[0];
  ASSERT_TRUE(report_.choice);
  EXPECT_NEAR(report_.choice->standard, found, 3);
}

TEST_F(Automatic, EightBitsWhereThereIsNothingToGoBy) {
  run("tensor<1x4x6x4xf32>", R"(
    %r = tosa.clamp %c {min_val = 100.0 : f32, max_val = 200.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %h = "tosa.const"() {values = dense<100.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %y = tosa.sub %r, %h : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)");
  EXPECT_FALSE(report_.choice);
}

// Depthwise convolutions read 8 bits in either precision.
TEST_F(Automatic, EightBitsWhereSixteenGainNothing) {
  run("tensor<1x4x6x4xf32>", chain("depthwise_conv2d", {1, 1, 4, 1}));
  EXPECT_EQ(report_.choice->precision, Precision::Standard);
  EXPECT_LT(report_.choice->standard, 40);
  EXPECT_LT(*report_.choice->extended, report_.choice->standard + 4);
}

// Of probabilities that are all nearly the same nothing could be told.
TEST_F(Automatic, GoesByWhatSoftmaxReads) {
  run("tensor<1x4x6x4xf32>", R"(
    %m = tosa.reduce_max %c {axis = 3 : i32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x1xf32>
    %d = tosa.sub %c, %m : (tensor<1x4x6x4xf32>, tensor<1x4x6x1xf32>) -> tensor<1x4x6x4xf32>
    %e = tosa.exp %d : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %s = tosa.reduce_sum %e {axis = 3 : i32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x1xf32>
    %i = tosa.reciprocal %s : (tensor<1x4x6x1xf32>) -> tensor<1x4x6x1xf32>
    %h = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
    %y = tosa.mul %e, %i, %h : (tensor<1x4x6x4xf32>, tensor<1x4x6x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)");
  double logits = report_.choice->standard;
  run("tensor<1x4x6x4xf32>", "return %c : tensor<1x4x6x4xf32>");
  EXPECT_NEAR(logits, report_.choice->standard, 0.5);
}

// The error that quantizing this with `data` gives, as place and message.
class QuantizeErrors : public Quantize {
protected:
  std::string error(const std::string &text, const CalibrationData *data = nullptr) {
    auto module = parse(text);
    try {
      quantize(*module, data ? *data : randomCalibration(*module, 2, 1), {}, nullptr);
    } catch (const UserError &error) {
      return error.place().str() + " | " + error.message();
    }
    return "quantized";
  }
  const std::string identity = "func.func @main(%x: tensor<1x2xf32> {tilewright.name = \"image\"}) "
                               "-> tensor<1x2xf32> { return %x : tensor<1x2xf32> }";
};

TEST_F(QuantizeErrors, AnOperatorWithoutIntegerFormIsNamed) {
  EXPECT_EQ(
      error(R"(func.func @main(%x: tensor<1x2xf32>) -> tensor<1xi32> {
    %y = tosa.argmax %x {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1xi32> loc("head"("ArgMax"))
    return %y : tensor<1xi32> })"),
      "node 'head' (ArgMax) | has no integer form: tosa.argmax on these types cannot be quantized");
}

TEST_F(QuantizeErrors, AModuleWithoutMain) {
  auto module = parse("module {}");
  EXPECT_THROW(quantize(*module, {}, {}, nullptr), std::logic_error); // the importer gives one
}

TEST_F(QuantizeErrors, CalibrationInputsMustFit) {
  CalibrationData data{"c.npz", {}};
  data.arrays["image"] = makeTensor(DType::F32, {4, 3});
  EXPECT_EQ(error(identity, &data),
            "c.npz: array 'image' | has shape (4, 3), and the model's input is (1, 2)");
  data.arrays["image"] = makeTensor(DType::F32, {});
  EXPECT_EQ(error(identity, &data),
            "c.npz: array 'image' | has shape (), and the model's input is (1, 2)");
  data.arrays["image"] = makeTensor(DType::F32, {0, 2});
  EXPECT_EQ(error(identity, &data), "c.npz: array 'image' | holds no samples");
}

TEST_F(QuantizeErrors, CalibrationDataAreFloats) {
  CalibrationData data{"c.npz", {}};
  for (DType type : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16}) {
    data.arrays["image"] = makeTensor(type, {1, 2});
    EXPECT_EQ(error(identity, &data), std::string("c.npz: array 'image' | holds ") + name(type) +
                                          ", and the model's input is float32");
  }
  data.arrays["image"] = makeTensor(DType::F64, {1, 2});
  EXPECT_EQ(error(identity, &data), "quantized");
}

TEST_F(QuantizeErrors, CalibrationArraysAreNamedAfterTheInputs) {
  CalibrationData data{"c.npz", {}};
  EXPECT_EQ(error(identity, &data), "c.npz | holds no arrays, and the model's inputs are 'image'");
  data.arrays["imaeg"] = makeTensor(DType::F32, {4, 2});
  EXPECT_EQ(error(identity, &data),
            "c.npz | holds the arrays 'imaeg', and the model's inputs are 'image'");
  data.arrays["image"] = data.arrays["imaeg"];
  EXPECT_EQ(error(identity, &data),
            "c.npz | holds the arrays 'imaeg', 'image', and the model's inputs are 'image'");
}

TEST_F(QuantizeErrors, CalibrationDataMustBeFinite) {
  CalibrationData data;
  data.arrays["image"] = makeTensor(DType::F32, {1, 2});
  data.arrays["image"].data<float>()[1] = NAN;
  EXPECT_EQ(error(identity, &data), "calibration data | is not finite on a calibration sample");
}

TEST_F(QuantizeErrors, ACalibrationPathMustHoldArrays) {
  EXPECT_THROW(readCalibration("/nonexistent.npz"), UserError);
  try {
    std::string folder = ::testing::TempDir() + "empty-calibration";
    std::filesystem::create_directory(folder);
    readCalibration(folder);
    FAIL();
  } catch (const UserError &error) {
    EXPECT_EQ(error.message(), "holds no .npy files");
  }
}

} // namespace

} // namespace tilewright
