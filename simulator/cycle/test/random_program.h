// Random programs from the description alone: any instruction it has, any operand it allows, hazards at the ports on purpose. They trap
// nowhere and end: operands stay in their memories, and semaphores are taken only after they were given.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <vector>

namespace tilewright::cycle {

std::vector<isa::Word> randomProgram(const isa::Isa &isa, uint64_t seed, int instructions);

} // namespace tilewright::cycle
