// Real factors as the multiplier and shift of tosa.rescale (scale32, SINGLE_ROUND).
#pragma once

#include "mlir/IR/Value.h"

#include <cstdint>
#include <optional>

namespace tilewright {

// value * factor is computed as (value * multiplier + (1 << (shift - 1))) >> shift. TOSA requires
// multiplier >= 0 and leastShift <= shift <= greatestShift.
struct FixedPoint {
  static constexpr int64_t leastShift = 2, greatestShift = 62;

  int64_t multiplier = 1 << 30;
  int64_t shift = 30;

  double factor() const;
  // x * multiplier / 2^shift is x itself for every x.
  bool isIdentity() const { return shift < 32 && multiplier == int64_t(1) << shift; }
};

constexpr double maxFactor = 536870912; // 2^29; below it every factor has a legal shift

// Below this factor the shift is so great that TOSA defines the rescale of all values of at most
// `magnitude`: it demands |value| < 2^(shift - 1).
double maxFactorFor(double magnitude);

// The nearest representable factor: 31 significant bits, fewer below 2^-31, 0 for what vanishes. 0
// <= factor < maxFactor.
FixedPoint fixedPoint(double factor);

// The one factor of a rescale by these constants; nothing when it has one for each channel, or they
// are not constant.
std::optional<FixedPoint> constantFixedPoint(mlir::Value multiplier, mlir::Value shift);

} // namespace tilewright
