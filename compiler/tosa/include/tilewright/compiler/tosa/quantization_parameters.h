// How a tensor's integers stand for real numbers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewright::quantization {

// real = (integer - zeroPoint) * scale. 16- and 32-bit tensors have zero point 0, as TOSA demands.
struct Parameters {
  double scale = 1;
  int64_t zeroPoint = 0;
  int bits = 8;

  int64_t least() const { return -(int64_t(1) << (bits - 1)); }
  int64_t greatest() const { return (int64_t(1) << (bits - 1)) - 1; }
  double real(int64_t integer) const { return double(integer - zeroPoint) * scale; }
  int64_t quantize(double real) const; // nearest (ties to even), saturated
  // The greatest |integer - zeroPoint|.
  double magnitude() const { return double(std::max(zeroPoint - least(), greatest() - zeroPoint)); }
  double lowest() const { return real(least()); }
  double highest() const { return real(greatest()); }

  bool operator==(const Parameters &other) const {
    return scale == other.scale && zeroPoint == other.zeroPoint && bits == other.bits;
  }
};

// The finest 8-bit parameters that cover [low, high] up to half a step and represent zero exactly.
Parameters asymmetric8(double low, double high);
// Zero point 0; covers [-magnitude, magnitude].
Parameters symmetric(double magnitude, int bits);

} // namespace tilewright::quantization
