// A quick, sufficient test that an instruction may execute: every operand inside its memory, every written one the same elements as a
// read one or apart from it, every index inside its array of registers.
#pragma once

#include "kernel_function.h"

namespace tilewright::kernels {

// What a check returns, or-ed. Without Memory the instruction does not trap; with it, isa::trapReason decides.
enum CheckResult : int64_t { CheckPassed = 0, CheckMemory = 1, CheckArray = 2 };

// Emits the body of a check, its return included.
void emitCheck(KernelFunction &kernel);

} // namespace tilewright::kernels
