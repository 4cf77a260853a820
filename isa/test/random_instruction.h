// Random legal instructions, for property tests.
#pragma once

#include "tilewright/isa/isa.h"

#include <random>

namespace tilewright::isa {

// Legal by the fields and by the instruction's requires; values near the ends of their ranges are
// likely.
DecodedInstruction randomInstruction(const Isa &isa, const Instruction &instruction,
                                     std::mt19937_64 &random);

bool sameInstruction(const DecodedInstruction &a, const DecodedInstruction &b);

} // namespace tilewright::isa
