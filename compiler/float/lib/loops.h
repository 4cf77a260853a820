// The two passes on a kernel between linalg on tensors and plain loops.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilewright::float_kernels {

// Tensors to buffers, in place where that is safe; results go straight into the kernel's output
// arguments. Temporary buffers are freed at the end of their block.
std::unique_ptr<mlir::Pass> createBufferizeKernelPass();

// Linalg on buffers to loops whose innermost one runs over the output's last dimension: reductions
// stand outside it, so LLVM vectorizes it without reordering any floating-point sum.
std::unique_ptr<mlir::Pass> createLoopsPass();

} // namespace tilewright::float_kernels
