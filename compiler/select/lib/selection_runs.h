// Runs of a group's operations, which instructions are chosen for and compared with.
#pragma once

#include "tilewright/compiler/select/selection.h"

#include <string>
#include <vector>

namespace tilewright {

constexpr size_t longestRun = 6; // operations that one instruction is tried for

// The operations as a user knows them: "sub + abs of 32 bits".
std::string describeRun(llvm::ArrayRef<mlir::Operation *> run, mlir::Operation *last = nullptr);

// Whether the operations from `place` on may be one instruction's: what they give, the last one's
// result apart, is read among them alone.
bool isRun(llvm::ArrayRef<mlir::Operation *> operations, size_t place, size_t length);

// The value of the operation, or the anchor, before a place.
mlir::Value enteringAt(mlir::Operation *anchor, llvm::ArrayRef<mlir::Operation *> operations,
                       size_t place);

// What a reduction takes in and from where it begins; the run's functions, or the elements
// themselves. Nothing where an operand does not lie so that a reduction can walk over it.
std::vector<RunFunction> takenIn(llvm::ArrayRef<mlir::Operation *> run, kernel::ReduceOp reduce);
patterns::Reduction combinerOf(kernel::ReduceOp reduce);

} // namespace tilewright
