// The two passes on a kernel between linalg on tensors and plain loops.
#pragma once

#include "register_blocks.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilewright::float_kernels {

// Tensors to buffers, in place where that is safe; results go straight into the kernel's output
// arguments. Temporary buffers are freed at the end of their block.
std::unique_ptr<mlir::Pass> createBufferizeKernelPass();

// Linalg on buffers to loops. Reductions become blocks of sums in registers, side by side along the
// output's last dimension; where that cannot be, they stand outside a loop over it, which LLVM
// vectorizes. Neither reorders any floating-point sum.
std::unique_ptr<mlir::Pass> createLoopsPass(const BlockShape &blocks);

} // namespace tilewright::float_kernels
