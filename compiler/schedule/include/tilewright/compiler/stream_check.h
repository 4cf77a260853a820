// Proves of a finished instruction stream that its semaphores do their work, from the instructions
// alone.
#pragma once

#include "tilewright/compiler/emitter.h"

#include <string>

namespace tilewright {

// "" when all of this holds, else the first thing that does not, with the instruction's number and
// text: every wait finds a signal of an earlier instruction; no signal is left over; no semaphore
// can hold more than `semaphore_max`; and every two instructions of different units that touch the
// same bytes, one of them writing, are ordered by waits, signals and fences. Programs without
// branches and loops only, which is what the scheduler emits.
std::string checkStream(const std::vector<StreamInstruction> &stream, const isa::Isa &isa);

} // namespace tilewright
