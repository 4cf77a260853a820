// Real factors as the multiplier and shift of tosa.rescale (scale32, SINGLE_ROUND).
#pragma once

#include <cstdint>

namespace tilewright::quantization {

// value * factor is computed as (value * multiplier + (1 << (shift - 1))) >> shift. TOSA requires
// multiplier >= 0 and 2 <= shift <= 62.
struct FixedPoint {
  int32_t multiplier = 1 << 30;
  int8_t shift = 30;

  double factor() const;
};

constexpr double maxFactor = 536870912; // 2^29; below it every factor has a legal shift

// Below this factor the shift is so great that TOSA defines the rescale of all values of at most
// `magnitude`: it demands |value| < 2^(shift - 1).
double maxFactorFor(double magnitude);

// The nearest representable factor: 31 significant bits, fewer below 2^-31, 0 for what vanishes. 0
// <= factor < maxFactor.
FixedPoint fixedPoint(double factor);

} // namespace tilewright::quantization
