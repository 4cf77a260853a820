// Runs of a group's operations, which instructions are chosen for and compared with.
#pragma once

#include "tilewright/compiler/select/selection.h"

#include <string>
#include <vector>

namespace tilewright {

constexpr size_t longestRun = 6; // operations that one instruction is tried for

// The operations as a user knows them: "sub + abs of 32 bits".
std::string describeRun(llvm::ArrayRef<mlir::Operation *> run, mlir::Operation *last = nullptr);

// Every run of the group, of at most `most` operations, that ends with operation `last`, larger
// ones first: what its operations give, the last one's result apart, is read among them alone.
std::vector<llvm::SmallVector<mlir::Operation *>>
runsEndingAt(llvm::ArrayRef<mlir::Operation *> operations, size_t last, size_t most = longestRun);

// One context for each way in which what the run reads of the group's anchor and other operations
// may stand on chip, the scratchpad first. None where there are too many.
std::vector<RunContext> contextsOf(llvm::ArrayRef<mlir::Operation *> run, mlir::Operation *anchor,
                                   llvm::ArrayRef<mlir::Operation *> operations,
                                   llvm::ArrayRef<int32_t> bias);

// What a reduction takes in and from where it begins; the run's functions, or the elements
// themselves. Nothing where an operand does not lie so that a reduction can walk over it.
std::vector<RunFunction> takenIn(llvm::ArrayRef<mlir::Operation *> run, kernel::ReduceOp reduce);
patterns::Reduction combinerOf(kernel::ReduceOp reduce);

} // namespace tilewright
