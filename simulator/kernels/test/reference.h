// The semantics once more, as plainly as they can be written: one element after the other, 128-bit
// integers, nothing shared with the generated code. Every step reads the state as it was before the
// step.
#pragma once

#include "tilewright/simulator/kernels/kernels.h"

namespace tilewright::reference {

using Integer = __int128;

// The value of `type` that `value` wraps to.
Integer wrap(const isa::Type &type, Integer value);

// Executes the steps of `decoded` on `state`. Throws std::logic_error for an access outside of a
// memory or array.
void execute(const isa::Isa &isa, const isa::DecodedInstruction &decoded, const int64_t *addresses,
             MachineState &state);

} // namespace tilewright::reference
