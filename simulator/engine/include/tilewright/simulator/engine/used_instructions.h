// Which instructions of the ISA occur in a program's code, by opcode alone: what Kernels::prepare
// takes.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <vector>

namespace tilewright {

std::vector<int> usedInstructions(const isa::Isa &isa, const Program &program);

} // namespace tilewright
