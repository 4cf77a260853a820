#include "tilewright/compiler/tosa/fixed_point.h"

#include "tilewright/compiler/tosa/constants.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tilewright {

constexpr int multiplierBits = 31;

double maxFactorFor(double magnitude) {
  int bits = 0; // magnitude < 2^bits
  std::frexp(std::max(magnitude, 1.0), &bits);
  return std::min(std::ldexp(1.0, multiplierBits - 1 - bits), maxFactor);
}

double FixedPoint::factor() const {
  return std::ldexp(double(multiplier), static_cast<int>(-shift));
}

FixedPoint fixedPoint(double factor) {
  if (!(factor >= 0 && factor < maxFactor))
    throw std::logic_error("a rescale factor that TOSA cannot express");
  int exponent = 0;
  double mantissa = std::frexp(factor, &exponent); // in [1/2, 1), or 0
  constexpr int leastShift = FixedPoint::leastShift, greatestShift = FixedPoint::greatestShift;
  int shift = multiplierBits - exponent;
  if (factor == 0)
    shift = leastShift;
  if (shift > greatestShift) { // too small for a full multiplier
    mantissa = std::ldexp(mantissa, greatestShift - shift);
    shift = greatestShift;
  }
  int64_t multiplier = std::llround(std::ldexp(mantissa, multiplierBits));
  if (multiplier == int64_t(1) << multiplierBits) { // rounded up to 1
    multiplier /= 2;
    --shift;
  }
  if (shift < leastShift) {
    multiplier = INT32_MAX;
    shift = leastShift;
  }
  return {multiplier, shift};
}

std::optional<FixedPoint> constantFixedPoint(mlir::Value multiplier, mlir::Value shift) {
  auto multipliers = constantIntegers(multiplier), shifts = constantIntegers(shift);
  if (!multipliers || !shifts || multipliers->size() != 1)
    return std::nullopt;
  return FixedPoint{multipliers->front(), shifts->front()};
}

} // namespace tilewright
