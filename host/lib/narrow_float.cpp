#include "narrow_float.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tilewright::host {

using Special = NarrowFormat::Special;

const NarrowFormat *narrowFormat(DType type) {
  static const NarrowFormat half{5, 10, 15, Special::Ieee, true},
      brain{8, 7, 127, Special::Ieee, true}, e4m3fn{4, 3, 7, Special::OneNan, false},
      e4m3fnuz{4, 3, 8, Special::NegativeZero, false}, e5m2{5, 2, 15, Special::Ieee, false},
      e5m2fnuz{5, 2, 16, Special::NegativeZero, false}, e2m1{2, 1, 1, Special::None, false},
      e8m0{8, 0, 127, Special::Exponent, false};
  switch (type) {
  case DType::F16:
    return &half;
  case DType::BF16:
    return &brain;
  case DType::F8E4M3FN:
    return &e4m3fn;
  case DType::F8E4M3FNUZ:
    return &e4m3fnuz;
  case DType::F8E5M2:
    return &e5m2;
  case DType::F8E5M2FNUZ:
    return &e5m2fnuz;
  case DType::F4E2M1:
    return &e2m1;
  case DType::F8E8M0:
    return &e8m0;
  default:
    return nullptr;
  }
}

namespace {

// Of the bits below the sign.
struct Limits {
  int sign;     // the bit
  int infinity; // -1: none
  int nan;      // -1: none
  int largest;  // finite
};

Limits limitsOf(const NarrowFormat &format) {
  const int sign = 1 << (format.exponentBits + format.mantissaBits), ones = sign - 1;
  const int top = ((1 << format.exponentBits) - 1) << format.mantissaBits;
  switch (format.special) {
  case Special::Ieee:
    return {sign, top, top | 1 << (format.mantissaBits - 1), top - 1};
  case Special::OneNan:
    return {sign, -1, ones, ones - 1};
  case Special::NegativeZero:
    return {sign, -1, sign, ones};
  case Special::None:
    return {sign, -1, -1, ones};
  case Special::Exponent:
    return {0, -1, ones, ones - 1};
  }
  return {};
}

} // namespace

double decode(const NarrowFormat &format, uint16_t bits) {
  const Limits limits = limitsOf(format);
  if (format.special == Special::Exponent)
    return bits == limits.nan ? std::nan("") : std::ldexp(1, bits - format.bias);
  if (format.special == Special::NegativeZero && bits == limits.nan)
    return std::nan("");
  const int below = bits & (limits.sign - 1);
  const bool isNegative = bits & limits.sign;
  if (below > limits.largest) {
    const double special =
        below == limits.infinity ? std::numeric_limits<double>::infinity() : std::nan("");
    return isNegative ? -special : special;
  }
  const int exponent = below >> format.mantissaBits, one = 1 << format.mantissaBits;
  const int mantissa = below & (one - 1);
  const double magnitude = std::ldexp(exponent ? mantissa | one : mantissa,
                                      std::max(exponent, 1) - format.bias - format.mantissaBits);
  return isNegative ? -magnitude : magnitude;
}

uint16_t encode(const NarrowFormat &format, double value, bool saturate) {
  const Limits limits = limitsOf(format);
  if (std::isnan(value))
    return static_cast<uint16_t>(std::max(limits.nan, 0));
  const int sign = std::signbit(value) ? limits.sign : 0;
  const double magnitude = std::fabs(value);
  int bits = 0;
  if (std::isinf(magnitude)) {
    bits = limits.largest + 1;
  } else if (format.special == Special::Exponent) {
    int exponent = 0; // of the nearest power of two, the upper one of two
    const double fraction = std::frexp(magnitude, &exponent);
    const int64_t all = exponent - (fraction < 0.75) + format.bias;
    const bool isBelow = magnitude == 0 || all < 0;
    if (isBelow && !saturate)
      return static_cast<uint16_t>(limits.nan);
    bits = isBelow ? 0 : static_cast<int>(std::min<int64_t>(all, limits.largest + 1));
  } else if (magnitude != 0) {
    const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
    const double rounded =
        std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent)); // half to even
    const int64_t all = (int64_t(exponent + format.bias - 1) << format.mantissaBits) +
                        static_cast<int64_t>(rounded);
    bits = static_cast<int>(std::min<int64_t>(all, limits.largest + 1));
  }
  if (bits > limits.largest) {
    if (format.mayOverflow || !saturate)
      bits = limits.infinity >= 0 ? limits.infinity : std::max(limits.nan, limits.largest);
    else
      bits = limits.largest;
    if (bits == limits.nan)
      return static_cast<uint16_t>(bits);
  }
  if (bits == 0 && format.special == Special::NegativeZero)
    return 0;
  return static_cast<uint16_t>(sign | bits);
}

void decodeAll(DType type, const char *bytes, int64_t count, float *values) {
  const NarrowFormat &format = *narrowFormat(type);
  const int64_t width = byteSize(type), codes = int64_t(1) << 8 * width;
  const auto bitsAt = [&](int64_t i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes + i * width, width); // little-endian
    return bits;
  };
  if (count < codes) { // a table of all codes would take longer
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(decode(format, bitsAt(i)));
    return;
  }
  std::vector<float> table(codes);
  for (int64_t code = 0; code < codes; ++code)
    table[code] = static_cast<float>(decode(format, static_cast<uint16_t>(code)));
  for (int64_t i = 0; i < count; ++i)
    values[i] = table[bitsAt(i)];
}

static uint32_t bitsOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void encodeHalves(const float *values, int64_t count, uint16_t *bits) {
  constexpr uint32_t smallestNormal = 0x38800000, beyondLargest = 0x47800000; // 2^-14, 2^16
  constexpr float half = 0.5f; // its last bit is worth the last one of a subnormal half
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t all = bitsOf(values[i]), below = all & 0x7fffffff;
    uint32_t result = 0x7c00; // infinity
    if (below > 0x7f800000) {
      bits[i] = 0x7e00;
      continue;
    }
    if (below < smallestNormal)
      result = bitsOf(std::fabs(values[i]) + half) - bitsOf(half);
    else if (below < beyondLargest) // another bias, and half to even
      result = (below - (uint32_t(127 - 15) << 23) + 0xfff + (below >> 13 & 1)) >> 13;
    bits[i] = static_cast<uint16_t>((all >> 16 & 0x8000) | result);
  }
}

void encodeBrainHalves(const float *values, int64_t count, uint16_t *bits) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t all = bitsOf(values[i]);
    bits[i] = (all & 0x7fffffff) > 0x7f800000
                  ? 0x7fc0
                  : static_cast<uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
}

} // namespace tilewright::host
