// What the arguments and results of @main say of themselves, as attributes.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilewright {

constexpr llvm::StringLiteral nameAttribute = "tilewright.name"; // string: as the model names it
// Of a quantized tensor, with which the host quantizes at the border: q = clamp(round_half_even(x /
// scale) + zero_point), x = (q - zero_point) * scale.
constexpr llvm::StringLiteral scaleAttribute = "tilewright.scale";          // f64
constexpr llvm::StringLiteral zeroPointAttribute = "tilewright.zero_point"; // i64
// string: the element type in which the model has a tensor that stands in another one here.
constexpr llvm::StringLiteral typeAttribute = "tilewright.type";
// i64 array: the shape of a tensor of 48-bit integers, of which [2, n] of 32 bits stand here: the
// lower 32 bits of all elements, then the upper ones.
constexpr llvm::StringLiteral halvesAttribute = "tilewright.halves";

} // namespace tilewright
