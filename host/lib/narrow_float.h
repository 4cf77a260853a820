// Floats of 16 bits and less: ONNX's float16, bfloat16, float8 and float4 ("Float stored in 8 bits"
// and "Float stored in 4 bits" in ONNX's documentation of its types).
#pragma once

#include "tilewright/support/npy.h"

#include <cstdint>

namespace tilewright::host {

struct NarrowFormat {
  int exponentBits, mantissaBits, bias;
  enum class Special {
    Ieee,         // infinity and NaN have the largest exponent
    OneNan,       // all ones below the sign are NaN; no infinity
    NegativeZero, // what would be -0 is NaN; no infinity
    None,         // numbers only
    Exponent      // powers of two without a sign; all ones are NaN
  } special;
  bool mayOverflow; // to infinity, whatever the caller says of saturation
};

const NarrowFormat *narrowFormat(DType type); // null of other types
double decode(const NarrowFormat &format, uint16_t bits);
// Rounded half to even.
uint16_t encode(const NarrowFormat &format, double value, bool saturate);

// The same of many numbers, and quicker.
void decodeAll(DType type, const char *bytes, int64_t count, float *values);
void encodeHalves(const float *values, int64_t count, uint16_t *bits);
void encodeBrainHalves(const float *values, int64_t count, uint16_t *bits);

} // namespace tilewright::host
