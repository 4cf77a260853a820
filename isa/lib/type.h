// Arithmetic of types: which type holds what, and how a value is brought into one.
#pragma once

#include "tilewright/isa/expression.h"

namespace tilewright::isa {

bool holds(const Type &wide, const Type &narrow);
Type smallestType(__int128 least, __int128 greatest, bool isSigned);
Type commonType(const Type &a, const Type &b); // i128 holds all of i1 to i128 and u1 to u127
__int128 wrap(__int128 value, const Type &type);
__int128 saturate(__int128 value, const Type &type);
int clog2(uint64_t value); // bits that count `value` different things; 0 for 1

} // namespace tilewright::isa
