// What an element switches on its way through a lane: the operators that it goes through.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::isa {

// In equivalents of a two-input NAND, by the areas of the target's technology: of an operator, the
// energy goes with its area. Registers and selections are left out.
struct SwitchedLogic {
  int64_t tap = 0;    // for each tap of a reduction, and each element of another step
  int64_t output = 0; // behind a reduction, once for its taps
};

// Of a step of a vector instruction. What depends on registers and immediates alone stands still.
SwitchedLogic switchedLogic(const Instruction &instruction, int step);

} // namespace tilewright::isa
