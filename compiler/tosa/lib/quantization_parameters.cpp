#include "tilewright/compiler/tosa/quantization_parameters.h"

#include <algorithm>
#include <cmath>

namespace tilewright::quantization {

int64_t Parameters::quantize(double real) const {
  double integer = std::nearbyint(real / scale) + double(zeroPoint);
  return static_cast<int64_t>(std::clamp(integer, double(least()), double(greatest())));
}

Parameters asymmetric8(double low, double high) {
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  Parameters parameters;
  if (high == low) {
    // All zero. Whatever is made from it, a bias above all, counts in steps of this scale.
    parameters.scale = 1.0 / (1 << 12);
    return parameters;
  }
  double levels = double(parameters.greatest() - parameters.least());
  // Rounding the zero point moves the range by up to half a step, which costs its ends no more than
  // rounding does anyway. But where zero lies midway between two levels, all data that stands on
  // the levels (images around zero) would: one level less puts it on one.
  double offset = -low / (high - low) * levels;
  constexpr double nearTie = 0.01;
  if (std::fabs(offset - std::floor(offset) - 0.5) < nearTie)
    levels -= 1;
  parameters.scale = (high - low) / levels;
  parameters.zeroPoint =
      std::clamp<int64_t>(std::llround(double(parameters.least()) - low / parameters.scale),
                          parameters.least(), parameters.greatest());
  return parameters;
}

Parameters symmetric(double magnitude, int bits) {
  Parameters parameters;
  parameters.bits = bits;
  if (magnitude > 0)
    parameters.scale = magnitude / double(parameters.greatest());
  return parameters;
}

} // namespace tilewright::quantization
