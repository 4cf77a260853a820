// Random programs from the description alone: any instruction it has, any operand it allows,
// hazards at the ports on purpose. They trap nowhere and end: operands stay in their memories, and
// semaphores are taken only after they were given.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <vector>

namespace tilewright::lockstep {

enum class RandomKind {
  Any,      // with loops, branches, fences, base registers and semaphores
  Straight, // none of them
};

// About `instructions` instructions, `halt` the last. DRAM operands begin below 64 KiB; with
// `mayBeLong` one in two hundred instructions may be as long as its memory allows.
struct RandomOptions {
  RandomKind kind = RandomKind::Any;
  bool mayBeLong = false;
};
std::vector<isa::DecodedInstruction> randomProgram(const isa::Isa &isa, uint64_t seed,
                                                   int instructions,
                                                   const RandomOptions &options = {});

} // namespace tilewright::lockstep
