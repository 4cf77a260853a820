// A quick, sufficient test that an instruction may execute: every operand inside its memory, every
// written one apart from what is read or the same elements.
#pragma once

#include "kernel_function.h"

namespace tilewright::kernels {

// Emits the body of a check, its return included: 0 when isa::trapReason would return "", else 1,
// and isa::trapReason decides.
void emitCheck(KernelFunction &kernel);

} // namespace tilewright::kernels
