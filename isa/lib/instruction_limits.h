// Limits of an instruction beside maximumOperands, checked at load so that what runs for each
// executed instruction needs no allocation.
#pragma once

#include <cstddef>

namespace tilewright::isa {

inline constexpr size_t maximumIterators = 6; // of a step, reductions included
inline constexpr size_t maximumAccesses = 12; // memory accesses of an instruction

} // namespace tilewright::isa
