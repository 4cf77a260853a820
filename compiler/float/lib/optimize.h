// LLVM's part in compiling kernels: code for this machine, and a pipeline that is short because
// compile time counts here.
#pragma once

#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tilewright::float_kernels {

// Code for this machine. Nothing here lets LLVM contract or reorder floating-point operations, so
// results are the same on all.
std::unique_ptr<llvm::TargetMachine> hostMachine();

// Vectorizes the loops of `module`. LLVM's own O2 makes code that runs no faster on such loops, but
// takes five times as long, most of it for unrolled copies.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tilewright::float_kernels
