// Multipliers and shifts of rescales.
#include "tilewright/compiler/tosa/fixed_point.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>

namespace tilewright {

namespace {

TEST(FixedPoint, IsLegalAndNearForEveryMagnitude) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-60, 29), mantissa(0.5, 1);
  for (int i = 0; i < 100000; ++i) {
    double factor = mantissa(random) * std::exp2(std::floor(exponent(random)));
    FixedPoint fixed = fixedPoint(factor);
    ASSERT_GE(fixed.multiplier, 0) << factor;
    ASSERT_GE(fixed.shift, 2) << factor;
    ASSERT_LE(fixed.shift, 62) << factor;
    ASSERT_LE(std::fabs(fixed.factor() - factor), std::max(factor * std::exp2(-31), std::exp2(-63)))
        << factor;
  }
}

TEST(FixedPoint, HandlesTheEnds) {
  EXPECT_EQ(fixedPoint(0).multiplier, 0);
  EXPECT_EQ(fixedPoint(1).multiplier, 1 << 30);
  EXPECT_EQ(fixedPoint(1).shift, 30);
  EXPECT_EQ(fixedPoint(std::nextafter(1.0, 0.0)).factor(), 1); // rounds up to the next power of two
  EXPECT_EQ(fixedPoint(1e-300).multiplier, 0);
  FixedPoint most = fixedPoint(std::nextafter(maxFactor, 0.0));
  EXPECT_EQ(most.shift, 2);
  EXPECT_GT(most.multiplier, 1 << 30);
  EXPECT_THROW(fixedPoint(maxFactor), std::logic_error);
  EXPECT_THROW(fixedPoint(-1), std::logic_error);
  EXPECT_THROW(fixedPoint(std::nan("")), std::logic_error);
}

TEST(FixedPoint, KeepsTheShiftAboveTheValuesBits) {
  for (double magnitude : {1.0, 127.0, 128.0, 255.0, 10320.0, 32768.0, 1e9}) {
    double factor = std::nextafter(maxFactorFor(magnitude), 0.0) * 0.999;
    EXPECT_LT(magnitude, std::ldexp(1.0, fixedPoint(factor).shift - 1)) << magnitude;
    EXPECT_GE(magnitude * 4 * factor, 1 << 29) << magnitude; // not far below what is possible
  }
}

} // namespace

} // namespace tilewright
