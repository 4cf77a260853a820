// Functions of an element that pick bits: once some of the element's bits are given, each bit of
// the result is a constant or a copy of another bit. Found by evaluating the function bit by bit,
// not by trying elements, of which there are too many.
#pragma once

#include "tilewright/isa/normal_form.h"

#include <array>
#include <optional>

namespace tilewright {

// What a bit of a value is: 0, 1, or bit `number` of the element.
struct BitSource {
  static constexpr int16_t constant0 = -2, constant1 = -1;
  int16_t number = constant0;

  bool isConstant() const { return number < 0; }
  bool operator==(const BitSource &other) const { return number == other.number; }
  bool operator!=(const BitSource &other) const { return number != other.number; }
};

// Of an integer in two's complement, the lowest bit first.
using BitSources = std::array<BitSource, 128>;

// The bits of a term whose only leaves read `element`, its own bits (as many as the type has,
// extended as it says); nothing when one of them is neither a constant nor a copy.
std::optional<BitSources> bitsOf(const isa::Term &term, const BitSources &element);

BitSources constantBits(__int128 value);

} // namespace tilewright
