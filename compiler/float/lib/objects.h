// Machine code of kernels, kept on disk: what was compiled once, by this version of the tool on
// this processor, is not even lowered again.
#pragma once

#include "kernels.h"
#include "lower.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewright::float_kernels {

// Objects that hold an entry for each kernel of `program`, whose functions they take away. Threads
// share the work of compiling; the code is the same for any number. `failed` is told of a kernel
// that has no lowering, and throws.
std::vector<std::string> objectsOf(KernelProgram &program, unsigned threads,
                                   const std::function<void(const LoweringFailure &)> &failed);

} // namespace tilewright::float_kernels
