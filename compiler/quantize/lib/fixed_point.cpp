#include "fixed_point.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tilewright::quantization {

constexpr int leastShift = 2, greatestShift = 62;
constexpr int multiplierBits = 31;

double maxFactorFor(double magnitude) {
  int bits = 0; // magnitude < 2^bits
  std::frexp(std::max(magnitude, 1.0), &bits);
  return std::min(std::ldexp(1.0, multiplierBits - 1 - bits), maxFactor);
}

double FixedPoint::factor() const { return std::ldexp(double(multiplier), -shift); }

FixedPoint fixedPoint(double factor) {
  if (!(factor >= 0 && factor < maxFactor))
    throw std::logic_error("a rescale factor that TOSA cannot express");
  int exponent = 0;
  double mantissa = std::frexp(factor, &exponent); // in [1/2, 1), or 0
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
  return {static_cast<int32_t>(multiplier), static_cast<int8_t>(shift)};
}

} // namespace tilewright::quantization
