// The quantizer's arithmetic: ranges, weights, splits.
#include "../lib/equalize.h"
#include "../lib/histogram.h"
#include "../lib/rounding.h"
#include "../lib/split.h"
#include "../lib/weights.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tilewright::quantization {

namespace {

// A bell with one far outlier.
Histogram bellWithOutlier() {
  Histogram histogram(-4, 40);
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(100000);
  for (float &value : values)
    value = std::clamp(normal(random), -4.0f, 4.0f);
  for (int i = 0; i < 10; ++i)
    histogram.add(values.data(), static_cast<int64_t>(values.size()));
  float outlier = 40;
  histogram.add(&outlier, 1);
  return histogram;
}

Parameters choose(Calibration method, const Functions &functions = {}) {
  QuantizeOptions options;
  options.method = method;
  return chooseParameters(bellWithOutlier(), options, functions);
}

TEST(Calibration, MinMaxKeepsOutliersAndTheOthersCutThem) {
  EXPECT_GE(choose(Calibration::MinMax).highest(), 40);
  for (Calibration method : {Calibration::Percentile, Calibration::Mse, Calibration::Entropy}) {
    EXPECT_LT(choose(method).highest(), 20) << int(method);
    EXPECT_LT(choose(method).lowest(), -2.5) << int(method);
  }
}

// The zero point of [-2, 2000] is rounded, which moves the end of the range below the values there.
TEST(Calibration, NoMethodCutsWhatAQuarterOfTheValuesAre) {
  Histogram histogram(-2, 2000);
  std::vector<float> values(400, 2000.0f);
  for (size_t i = 0; i < 300; ++i)
    values[i] = static_cast<float>(i % 5) - 2;
  histogram.add(values.data(), static_cast<int64_t>(values.size()));
  for (Calibration method :
       {Calibration::MinMax, Calibration::Percentile, Calibration::Mse, Calibration::Entropy}) {
    QuantizeOptions options;
    options.method = method;
    EXPECT_GT(chooseParameters(histogram, options, {}).highest(), 1980) << int(method);
  }
}

TEST(Calibration, CutsTailsInWhichTheFunctionIsConstant) {
  Functions clampAtTwo = {[](double x) { return std::min(x, 2.0); }};
  Parameters parameters = choose(Calibration::MinMax, clampAtTwo);
  EXPECT_NEAR(parameters.highest(), 2, 0.1);
  EXPECT_LE(parameters.lowest(), -4 + 0.1);
}

TEST(Calibration, MseServesTheFunctionNotTheTensor) {
  // All that matters of x is its sign near zero: a fine scale is worth any clipping.
  Functions steep = {[](double x) { return std::tanh(4 * x); }};
  EXPECT_LT(choose(Calibration::Mse, steep).scale, choose(Calibration::Mse).scale);
}

TEST(Histogram, DoesNotDependOnOrder) {
  std::vector<float> values{0.1f, 0.9f, 0.5f, 0.25f}, reversed(values.rbegin(), values.rend());
  Histogram a(0, 1), b(0, 1);
  a.add(values.data(), 4);
  b.add(reversed.data(), 4);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.total(), 4);
}

// Weights of a convolution of one tap, an output a row.
Filter filterOf(llvm::ArrayRef<float> weights, std::vector<double> bias,
                std::vector<double> means) {
  Filter filter;
  auto outputs = static_cast<int64_t>(bias.size());
  filter.shape = {outputs, 1, 1, static_cast<int64_t>(weights.size()) / outputs};
  filter.weights = ConstantFloats(weights);
  filter.bias = std::move(bias);
  filter.inputMeans = std::move(means);
  filter.covered = {1};
  return filter;
}

TEST(Weights, EachChannelHasItsOwnScale) {
  std::vector<float> real = {1, -0.25, 100, 25};
  QuantizedWeights weights = quantizeWeights(filterOf(real, {0.25, 0}, {0, 0}), 0.1);
  EXPECT_EQ(weights.weights, (std::vector<int8_t>{127, -32, 127, 32}));
  EXPECT_DOUBLE_EQ(weights.scales[0], 0.1 / 127);
  EXPECT_DOUBLE_EQ(weights.scales[1], 10.0 / 127);
  EXPECT_EQ(weights.bias[0], std::lround(0.25 * 127 / 0.1));
}

TEST(Weights, BiasMakesUpForRoundedWeights) {
  std::vector<float> real = {1, 0.3f};
  std::vector<double> means = {2, 100};
  QuantizedWeights weights = quantizeWeights(filterOf(real, {0.5}, means), 0.1);
  double step = weights.scales[0] / 0.1, mean = double(weights.bias[0]) * weights.scales[0];
  for (size_t i : {0, 1})
    mean += double(weights.weights[i]) * step * means[i];
  EXPECT_NEAR(mean, 0.5 + 1 * 2 + double(real[1]) * 100, weights.scales[0]);
  EXPECT_NE(weights.bias[0], std::lround(0.5 / weights.scales[0])); // 0.3 is not on a level
}

TEST(Weights, ADeadChannelStillHasItsBias) {
  std::vector<float> real = {0, 0, 1e-30f};
  QuantizedWeights weights = quantizeWeights(filterOf(real, {3, 0, -5}, {0}), 0.1);
  for (size_t c : {0, 1, 2}) {
    EXPECT_GT(weights.scales[c], 0);
    EXPECT_NEAR(double(weights.bias[c]) * weights.scales[c], c == 0 ? 3 : c == 1 ? 0 : -5, 1e-6);
    EXPECT_LE(std::abs(weights.bias[c]), int64_t(1) << 29);
  }
}

TEST(Weights, TheModelsOwnStayWhatTheyAre) {
  std::vector<float> real = {0.3f * 5, 0.3f * -3, 0.3f * 127, 0.7f * 100, 0.7f * 9, 0.7f * -37};
  std::vector<double> means = {2, 100, 3};
  Filter filter = filterOf(real, {0.5, 0}, means);
  filter.keepsWeights = true;
  QuantizedWeights weights = quantizeWeights(filter, 0.1);
  EXPECT_EQ(weights.weights, (std::vector<int8_t>{5, -3, 127, 100, 9, -37}));
  EXPECT_EQ(weights.bias[0], std::lround(0.5 / weights.scales[0])); // nothing to make up for
}

TEST(Weights, ThoseOfFewBitsTakeFinerSteps) {
  std::vector<float> real = {0.5f, -1.5f, 1};
  Filter filter = filterOf(real, {0.01}, {0, 0, 0});
  filter.keepsWeights = true;
  EXPECT_EQ(quantizeWeights(filter, 1).weights, (std::vector<int8_t>{42, -126, 84}));
}

TEST(Weights, AZeroPointBringsTheModelsOwnIntoEightBits) {
  std::vector<float> real = {0.1f * -200, 0.1f * 55, 0.1f, 0.1f * -73, 0, 0.1f * 20};
  Filter filter = filterOf(real, {0, 0}, {0, 0, 0});
  filter.keepsWeights = true;
  QuantizedWeights weights = quantizeWeights(filter, 1);
  EXPECT_EQ(weights.zeroPoint, 72);
  EXPECT_EQ(weights.weights, (std::vector<int8_t>{-128, 127, 73, -1, 72, 92}));
}

TEST(Weights, ThoseThatHaveNoStepAreRounded) {
  std::vector<float> real = {1, 0.123f, 0.377f, 0.713f, 0.559f};
  Filter filter = filterOf(real, {0}, {0, 0, 0, 0, 0});
  filter.keepsWeights = true;
  EXPECT_EQ(quantizeWeights(filter, 1).weights, (std::vector<int8_t>{127, 16, 48, 91, 71}));
}

TEST(Weights, DepthwiseOutputsStandSideBySide) {
  std::vector<float> rows = {1, -0.25, 100, 25}, columns = {1, 100, -0.25, 25};
  Filter filter = filterOf(columns, {0, 0}, {0, 0});
  filter.isDepthwise = true;
  filter.shape = {2, 1, 2, 1};
  filter.covered = {1, 1};
  QuantizedWeights weights = quantizeWeights(filter, 0.1);
  EXPECT_EQ(weights.weights, (std::vector<int8_t>{127, 127, -32, 32}));
  EXPECT_EQ(weights.scales, quantizeWeights(filterOf(rows, {0, 0}, {0, 0}), 0.1).scales);
}

TEST(Weights, FactorsOfChannelsLeaveWhatTheWeightsStandFor) {
  std::vector<float> real = {1, -0.25, 2, 0.5};
  Filter plain = filterOf(real, {0.25, 1}, {0, 0}), scaled = plain;
  scaled.inputFactors = {4, 0.5};
  scaled.outputFactors = {2, 8};
  scaled.bias = {0.25 * 2, 1 * 8.0};
  RealWeights reals(scaled);
  reals.set(scaled, quantizeWeights(scaled, 0.1), 0.1);
  for (size_t i = 0; i < real.size(); ++i)
    EXPECT_NEAR(reals.weights.data<float>()[i], real[i], 0.02 * 4) << i;
  for (size_t c : {0, 1})
    EXPECT_NEAR(reals.bias.data<float>()[c], c == 0 ? 0.25 : 1, 0.01) << c;
}

TEST(Equalization, BringsChannelsToOneRange) {
  EXPECT_EQ(channelFactors({{0, 8}, {0, 2}, {0, 0}, {0, 8e-9}}, 1),
            (std::vector<double>{1, 4, 1, 64}));
  EXPECT_EQ(channelFactors({{-8, 8}, {-1, 2}}, 0.5), (std::vector<double>{1, 2}));
}

TEST(Rounding, LetsErrorsMakeUpForEachOther) {
  // Two inputs that are always alike: only the sum of the weights counts.
  std::vector<double> weights = {0.4, 0.4, 0.4};
  Rounding({1, 0, 0, 1, 1, 0, 0, 0, 1}, 3).apply(weights.data(), 127);
  EXPECT_EQ(weights[0] + weights[1], 1);
  EXPECT_EQ(weights[2], 0); // which no other input goes with
}

TEST(Rounding, IsNotForAFewSamplesAlone) {
  // Two inputs that were alike once: on others, errors of 0.6 and 0.4 are worse than no weights.
  std::vector<double> weights = {0.4, 0.4};
  Rounding({1, 0, 1, 1}, 1).apply(weights.data(), 127);
  EXPECT_EQ(weights, (std::vector<double>{0, 0}));
  weights = {2.4, 2.4}; // which errors of one do not outweigh
  Rounding({1, 0, 1, 1}, 1).apply(weights.data(), 127);
  EXPECT_EQ(weights[0] + weights[1], 5);
}

TEST(Rounding, StaysWithinTheGreatestAndBearsInputsThatAreAlwaysZero) {
  std::vector<double> weights = {200, -3.6, 0.2};
  Rounding(std::vector<double>(9, 0), 3).apply(weights.data(), 127);
  EXPECT_EQ(weights, (std::vector<double>{127, -4, 0}));
}

TEST(Rounding, KeepsZerosWhereAQuarterAre) {
  // What the first one is multiplied with is always half of the others': as a one it would make up
  // for most of the error of the last one.
  auto rounded = [](std::vector<double> weights) {
    const size_t size = weights.size();
    std::vector<double> moments;
    for (size_t i = 0; i < size * size; ++i)
      moments.push_back((i / size ? 1 : 0.5) * (i % size ? 1 : 0.5));
    Rounding(moments, 100).apply(weights.data(), 127);
    return weights;
  };
  EXPECT_EQ(rounded({0, 1, 1, 0.4}), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(rounded({0, 1, 1, 1, 0.4}), (std::vector<double>{1, 1, 1, 1, 0}));
}

TEST(Rounding, IsMoreExactThanTheNearestIntegersOnCorrelatedInputs) {
  constexpr size_t size = 24, samples = 500;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> inputs(samples, std::vector<double>(size));
  std::vector<double> moments(size * size), exact(size);
  for (auto &input : inputs)
    for (size_t i = 0; i < size; ++i)
      input[i] = (i ? 0.9 * input[i - 1] : 0) + normal(random);
  for (const auto &input : inputs)
    for (size_t i = 0; i < size; ++i)
      for (size_t j = 0; j <= i; ++j)
        moments[i * size + j] += input[i] * input[j];
  for (double &weight : exact)
    weight = 10 * normal(random);
  std::vector<double> nearest(size), together = exact;
  for (size_t i = 0; i < size; ++i)
    nearest[i] = std::nearbyint(exact[i]);
  Rounding(moments, samples).apply(together.data(), 127);
  auto error = [&](const std::vector<double> &weights) {
    double sum = 0;
    for (const auto &input : inputs) {
      double difference = 0;
      for (size_t i = 0; i < size; ++i)
        difference += input[i] * (weights[i] - exact[i]);
      sum += difference * difference;
    }
    return sum;
  };
  EXPECT_LT(error(together), 0.5 * error(nearest));
}

TEST(Split, HighPartsCoverTheirRangeAndKeepTheirDistance) {
  for (auto [low, high] : {std::pair(-1.0, 3.0), {0.0, 6.0}, {-5.0, 0.0}, {-2.0, 2.0}}) {
    Parameters wide = wideParameters(low, high), part = highParameters(wide, low, high);
    EXPECT_EQ(part.scale, 128 * wide.scale);
    EXPECT_LE(part.lowest(), low + 9 * part.scale);
    EXPECT_GE(part.highest(), high - 9 * part.scale);
    EXPECT_LE(wide.lowest(), low);
    EXPECT_GE(wide.highest(), high);
    EXPECT_LE(std::abs(part.zeroPoint), 120);
  }
}

} // namespace

} // namespace tilewright::quantization
