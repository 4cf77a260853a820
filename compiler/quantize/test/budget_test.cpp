// What a budget buys, of precisions whose decibels and cycles are given.
#include "../lib/budget.h"
#include "quantize_fixture.h"
#include "tilewright/support/error.h"

#include <gmock/gmock.h>

namespace tilewright {

namespace {

using quantization::byWorth;
using quantization::spend;

// Of ten tensors: 30 dB and 1,000 cycles, a decibel and 100 cycles more for each that has 16 bits;
// mixed precision 33 dB in 1,250 cycles, extended 41 dB in 3,000.
class Budget : public ::testing::Test {
protected:
  static constexpr size_t tensors = 10;

  std::string spent() {
    try {
      const BudgetReport report = spend(options_, tensors, [&](Precision precision, size_t exact) {
        ++measured_;
        return measure(precision, exact);
      });
      const TriedPrecision &chosen = report.tried[report.chosen];
      return (chosen.precision == Precision::Standard ? "standard "
              : chosen.precision == Precision::Mixed  ? "mixed "
                                                      : "extended ") +
             std::to_string(chosen.exactTensors);
    } catch (const UserError &error) {
      return error.message() + "; " + error.fix();
    }
  }

  std::optional<TriedPrecision> measure(Precision precision, size_t exact) const {
    if (!isComputable_)
      return std::nullopt;
    if (precision == Precision::Mixed)
      return TriedPrecision{precision, 0, 33, 1250};
    if (precision == Precision::Extended)
      return isExtendable_ ? std::optional(TriedPrecision{precision, 0, 41, 3000}) : std::nullopt;
    return TriedPrecision{precision, exact, 30 + double(exact), 1000 + 100 * int64_t(exact)};
  }

  QuantizeOptions options_;
  bool isExtendable_ = true, isComputable_ = true;
  int measured_ = 0;
};

TEST_F(Budget, OfALossTheFewestTensorsHaveSixteenBits) {
  options_.maxLoss = 5;
  EXPECT_EQ(spent(), "standard 6");
  EXPECT_LE(measured_, 8); // by halves
}

TEST_F(Budget, OfALossTheFastestPrecisionIsTaken) {
  options_.maxLoss = 8;
  EXPECT_EQ(spent(), "mixed 0"); // three tensors take 1,300 cycles
}

TEST_F(Budget, NoLossIsTheMostExactPrecision) {
  options_.maxLoss = 0;
  EXPECT_EQ(spent(), "extended 0");
}

TEST_F(Budget, LossIsAgainstWhatTheTargetCanCompute) {
  isExtendable_ = false;
  options_.maxLoss = 0;
  EXPECT_EQ(spent(), "standard 10");
}

TEST_F(Budget, OfCyclesTheMostTensorsHaveSixteenBits) {
  options_.maxCycles = 1750;
  EXPECT_EQ(spent(), "standard 7");
}

TEST_F(Budget, OfCyclesTheMostExactPrecisionIsTaken) {
  options_.maxCycles = 1290;
  EXPECT_EQ(spent(), "mixed 0");
}

TEST_F(Budget, TooFewCyclesAreRefusedWithTheFewest) {
  options_.maxCycles = 999;
  EXPECT_EQ(spent(), "--max-cycles 999: the fastest precision takes 1000 cycles, at 30.0 dB; "
                     "allow 1000 cycles");
}

TEST_F(Budget, ALossWithinTheCyclesIsTaken) {
  options_.maxLoss = 5, options_.maxCycles = 1600;
  EXPECT_EQ(spent(), "standard 6");
}

TEST_F(Budget, ALossThatTakesMoreCyclesIsRefusedWithTheLossWithinThem) {
  options_.maxLoss = 5, options_.maxCycles = 1599;
  EXPECT_EQ(spent(), "--max-loss 5 takes 1600 cycles, more than --max-cycles 1599: within these, "
                     "6.0 dB are lost; allow 1600 cycles, or a greater loss");
}

TEST_F(Budget, ANetworkThatTheTargetCannotComputeHasNone) {
  options_.maxLoss = 1;
  isComputable_ = false;
  EXPECT_EQ(spent(), "the target cannot compute it in any precision, so no budget holds; leave out "
                     "--max-loss and --max-cycles, which tells why");
}

TEST(BudgetOrder, NoiseForACycleDecidesAndTheFirstOfEqualOnes) {
  EXPECT_THAT(byWorth({1, 4, 2, 4, 3}, {1, 8, 2, 1, 0}), ::testing::ElementsAre(3, 4, 0, 2, 1));
}

// A network of two convolutions, the second of which reads 8 bits or 16.
class BudgetOfNetwork : public Quantize {
protected:
  BudgetReport report(const QuantizeOptions &options, int64_t samples = 8) {
    auto module = parse("func.func @main(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x2xf32> {" +
                        constants + convolve + R"(
    %v = "tosa.const"() {values = dense<[[[[0.3, -0.7, 0.11, 0.9]]], [[[0.77, 0.21, -0.4, -0.13]]]]> : tensor<2x1x1x4xf32>} : () -> tensor<2x1x1x4xf32>
    %t = tosa.clamp %c {min_val = 0.0 : f32, max_val = 3.4028235e+38 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32> loc("relu"("Relu"))
    %d = tosa.conv2d %t, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<2x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x2xf32>
    return %d : tensor<1x4x6x2xf32> })");
    QuantizationReport report;
    int64_t asked = 0;
    integer_ = quantize(*module, randomCalibration(*module, samples, 1), options, &report, nullptr,
                        nullptr, [&](mlir::ModuleOp made) {
                          ++asked;
                          int64_t operators = 0;
                          made.walk([&](mlir::Operation *) { ++operators; });
                          return NetworkCycles{operators, {{"relu", operators}}};
                        });
    EXPECT_GT(asked, 0);
    return *report.budget;
  }
};

TEST_F(BudgetOfNetwork, SensitivityIsPerTensorAndSamplesAreHeldBack) {
  QuantizeOptions options;
  options.maxLoss = 0.1;
  const BudgetReport spent = report(options);
  EXPECT_EQ(spent.samples, 6u);
  EXPECT_EQ(spent.heldBack, 2u);
  ASSERT_EQ(spent.tensors.size(), 1u);
  EXPECT_EQ(spent.tensors[0].layer, "relu");
  EXPECT_GT(spent.tensors[0].gain, 1);
  EXPECT_GT(spent.tensors[0].cycles, 0);
}

TEST_F(BudgetOfNetwork, AGreatLossLeavesEightBits) {
  QuantizeOptions options;
  options.maxLoss = 60;
  const BudgetReport spent = report(options);
  EXPECT_EQ(spent.tried[spent.chosen].precision, Precision::Standard);
  EXPECT_FALSE(spent.tensors[0].isExact);
}

TEST_F(BudgetOfNetwork, OneSampleCannotBeHeldBack) {
  QuantizeOptions options;
  options.maxCycles = 1000;
  try {
    report(options, 1);
    FAIL();
  } catch (const UserError &error) {
    EXPECT_EQ(error.message(), "holds one sample: of a budget, some are held back to measure by");
    EXPECT_EQ(error.fix(), "give two or more, or leave out --max-loss and --max-cycles");
  }
}

TEST_F(BudgetOfNetwork, OutputsOfZerosTellNothing) {
  auto module = parse("func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> { return %x : "
                      "tensor<1x2xf32> }");
  CalibrationData data = randomCalibration(*module, 8, 1);
  Tensor &samples = data.arrays.begin()->second;
  std::fill(samples.data<float>() + 12, samples.data<float>() + 16, 0.0f); // the last quarter
  QuantizeOptions options;
  options.maxLoss = 1;
  try {
    quantize(*module, data, options, nullptr, nullptr, nullptr,
             [](mlir::ModuleOp) { return NetworkCycles(); });
    FAIL();
  } catch (const UserError &error) {
    EXPECT_EQ(error.message(),
              "the samples held back give outputs of zeros, or none that are finite");
    EXPECT_EQ(error.fix(), "give others, or leave out --max-loss and --max-cycles");
  }
}

} // namespace

} // namespace tilewright
