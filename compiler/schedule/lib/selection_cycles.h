// How long the vector unit loads its registers: parameters of channels, a table.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/simulator/plan.h"

namespace tilewright {

// Of an instruction that has its ports for itself, from its first read to its last.
int64_t selectionCycles(const isa::Isa &isa, const cycle::InstructionPlan &plan,
                        const int64_t *immediates);

} // namespace tilewright
