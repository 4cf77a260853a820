#include "parameters.h"

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
  if (high == low)
    return parameters; // all zero: any scale will do
  parameters.scale = (high - low) / double(parameters.greatest() - parameters.least());
  parameters.zeroPoint =
      std::clamp<int64_t>(std::llround(double(parameters.least()) - low / parameters.scale),
                          parameters.least(), parameters.greatest());
  // The rounded zero point moved the range by up to half a step: widen the step until both ends are
  // inside again.
  double below = double(parameters.zeroPoint - parameters.least()),
         above = double(parameters.greatest() - parameters.zeroPoint);
  parameters.scale = std::max(below > 0 ? -low / below : 0.0, above > 0 ? high / above : 0.0);
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
