// Scales and zero points for ranges.
#include "tilewright/compiler/tosa/quantization_parameters.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tilewright::quantization {

namespace {

TEST(Parameters, CoverTheRangeUpToHalfAStepAndHoldZeroExactly) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> end(-100, 100);
  for (int i = 0; i < 10000; ++i) {
    double a = end(random), b = end(random);
    Parameters parameters = asymmetric8(std::min(a, b), std::max(a, b));
    ASSERT_EQ(parameters.real(parameters.quantize(0)), 0);
    ASSERT_LE(parameters.lowest(), std::min({a, b, 0.0}) + 0.501 * parameters.scale);
    ASSERT_GE(parameters.highest(), std::max({a, b, 0.0}) - 0.501 * parameters.scale);
    ASSERT_LE(parameters.scale, (std::max({a, b, 0.0}) - std::min({a, b, 0.0})) / 253.999);
  }
}

TEST(Parameters, OneSidedRangesUseAllLevels) {
  Parameters relu = asymmetric8(0, 6);
  EXPECT_EQ(relu.zeroPoint, -128);
  EXPECT_DOUBLE_EQ(relu.scale, 6.0 / 255);
  EXPECT_EQ(asymmetric8(-2, -1).zeroPoint, 127);
  EXPECT_EQ(asymmetric8(0, 0).real(asymmetric8(0, 0).quantize(0)), 0);
}

TEST(Parameters, PutZeroOnALevelOfSymmetricData) {
  Parameters image = asymmetric8(-1, 1);
  EXPECT_EQ(image.zeroPoint, -1);
  EXPECT_DOUBLE_EQ(image.scale, 2.0 / 254);
}

TEST(Parameters, QuantizeToTheNearestEvenAndSaturate) {
  Parameters parameters{1, 0, 8};
  EXPECT_EQ(parameters.quantize(0.5), 0);
  EXPECT_EQ(parameters.quantize(1.5), 2);
  EXPECT_EQ(parameters.quantize(1e30), 127);
  EXPECT_EQ(parameters.quantize(-1e30), -128);
  EXPECT_EQ(symmetric(2, 16).quantize(2), 32767);
}

} // namespace

} // namespace tilewright::quantization
