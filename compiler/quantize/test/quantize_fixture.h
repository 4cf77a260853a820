// Quantizes small graphs, and compares what the integers give with the float graph.
#pragma once

#include "tilewright/compiler/quantize/quantize.h"

#include "tilewright/compiler/float/float_execution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace tilewright {

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
    options_.method = method;
    options_.precision = precision_;
    options_.layerReport = true;
    report_ = {};
    CalibrationData calibration = data;
    if (onCalibration_)
      onCalibration_(calibration.arrays.at("arg0"));
    integer_ = quantize(*real_, calibration, options_, &report_);
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

  // %y: softmax of `x` along the last of three dimensions; `row`: the type of a value for each row.
  static std::string softmaxOver(const std::string &type, const std::string &row,
                                 const std::string &x) {
    const std::string both = " : (" + type + ", " + row, toRow = ") -> " + row + "\n";
    return "%max = tosa.reduce_max " + x + " {axis = 2 : i32} : (" + type + toRow +
           "%diff = tosa.sub " + x + ", %max" + both + ") -> " + type +
           "\n%exp = tosa.exp %diff : (" + type + ") -> " + type +
           "\n%sum = tosa.reduce_sum %exp {axis = 2 : i32} : (" + type + toRow +
           "%inv = tosa.reciprocal %sum : (" + row + toRow + "%y = tosa.mul %exp, %inv, %shift" +
           both + ", tensor<1xi8>) -> " + type + "\n";
  }

  Precision precision_ = Precision::Standard;
  bool onLevels_ = false;
  QuantizeOptions options_;
  std::function<void(Tensor &)> onCalibration_; // changes the first input, for calibration alone
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
    auto integerMain = integer_->lookupSymbol<mlir::func::FuncOp>("main");
    for (int64_t sample = 0; sample < 16; ++sample) {
      std::vector<Tensor> real, integer;
      for (unsigned i = 0; i < main.getNumArguments(); ++i) {
        auto shape =
            llvm::cast<mlir::RankedTensorType>(main.getArgument(i).getType()).getShape().vec();
        const Tensor &all = data.arrays.at("arg" + std::to_string(i));
        real.push_back(makeTensor(DType::F32, shape));
        const bool isWide =
            mlir::getElementTypeOrSelf(integerMain.getArgument(i).getType()).isInteger(16);
        integer.push_back(makeTensor(isWide ? DType::I16 : DType::I8, shape));
        double scale = scaleOf("tilewright.scale", false, i),
               zero = scaleOf("tilewright.zero_point", false, i);
        for (int64_t k = 0, n = real.back().elements(); k < n; ++k) {
          float x = all.data<float>()[sample * n + k];
          real.back().data<float>()[k] = x;
          const double q = std::nearbyint(x / scale) + zero;
          if (isWide)
            integer.back().data<int16_t>()[k] =
                static_cast<int16_t>(std::clamp(q, -32768.0, 32767.0));
          else
            integer.back().data<int8_t>()[k] = static_cast<int8_t>(std::clamp(q, -128.0, 127.0));
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

// A softmax along the last dimension of %NAME, 1x4x6xN, in the importer's form: gives %y.
inline std::string softmaxOf(const std::string &name, int n) {
  std::string t = "tensor<1x4x6x" + std::to_string(n) + "xf32>", r = "tensor<1x4x6x1xf32>";
  return "%mm = tosa.reduce_max " + name + " {axis = 3 : i32} : (" + t + ") -> " + r +
         "\n%dd = tosa.sub " + name + ", %mm : (" + t + ", " + r + ") -> " + t +
         "\n%ee = tosa.exp %dd : (" + t + ") -> " + t +
         "\n%ss = tosa.reduce_sum %ee {axis = 3 : i32} : (" + t + ") -> " + r +
         "\n%ii = tosa.reciprocal %ss : (" + r + ") -> " + r +
         "\n%y = tosa.mul %ee, %ii, %shift : (" + t + ", " + r + ", tensor<1xi8>) -> " + t + "\n";
}

} // namespace tilewright
