// The LLVM side: kernels in the LLVM dialect to machine code.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"

#include <string>
#include <vector>

namespace tilewright::float_kernels {

// This machine's processor.
llvm::orc::JITTargetMachineBuilder hostMachine();

// The symbol of a kernel's entry, which takes an array of pointers: one to each of its buffers.
std::string entryOf(llvm::StringRef kernel);

// Relocatable objects that hold an entry for each kernel of `kernels`; in what order and in how
// many objects says nothing. `threads` share the work, the code is the same for any number.
std::vector<std::string> compileToObjects(mlir::ModuleOp kernels, unsigned threads);

} // namespace tilewright::float_kernels
