// Random programs from the description alone: any instruction it has, any operand it allows,
// hazards at the ports on purpose. They trap nowhere and end: operands stay in their memories, and
// semaphores are taken only after they were given.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <vector>

namespace tilewright::cycle {

enum class RandomKind {
  Any,      // with loops, branches, fences and semaphores
  Straight, // none of them
};
std::vector<isa::Word> randomProgram(const isa::Isa &isa, uint64_t seed, int instructions,
                                     RandomKind kind = RandomKind::Any);

} // namespace tilewright::cycle
