// From integer TOSA to the kernel dialect: which operators exist, in which fused form.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilewright {

class Selection;

// Whether selection can rely on the module: one function @main of TOSA operators on static integer
// tensors, each within the rules of TOSA 1.0 that MLIR's verifier does not check. One diagnostic
// otherwise.
mlir::LogicalResult checkTosa(mlir::ModuleOp module);

// `tosa-check`: checkTosa as a pass of its own; `tosa-to-kernel` starts with the same check.
std::unique_ptr<mlir::Pass> createTosaCheckPass();

// `tosa-to-kernel`: one kernel operation for each TOSA operator, reshapes as views, data movement
// as assemble. An operator (or type) that has no kernel form is one error that names the user's
// operator, the TOSA operator and the reason.
std::unique_ptr<mlir::Pass> createTosaToKernelPass();

// `kernel-fuse`: rescales folded into quantized adds and multiplications (add_i8, mul_i8), clamps
// into rescales; then, where the instructions are known (`selection`), what none computes is
// written by other operations; then groups: an anchor with the element-wise operations that follow
// it on the tile while each value has one use.
std::unique_ptr<mlir::Pass> createKernelFusePass(std::shared_ptr<Selection> selection = nullptr);

// Whether the scheduler can rely on the module, whoever wrote it: what kernel-fuse leaves. One
// diagnostic otherwise.
mlir::LogicalResult checkKernels(mlir::ModuleOp module);

void registerSelectPasses();

} // namespace tilewright
