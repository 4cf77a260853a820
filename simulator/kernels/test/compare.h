// Runs an instruction as a kernel and by plain evaluation on the same random states.
#pragma once

#include "tilewright/simulator/kernels/kernels.h"

#include <gtest/gtest.h>

namespace tilewright {

// Draws `cases` executable cases of the instruction and expects equal memories, arrays and
// registers.
void expectAgreement(const isa::Isa &isa, Kernels &kernels, const isa::Instruction &instruction,
                     uint64_t seed, int cases);

} // namespace tilewright
