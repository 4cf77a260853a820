// What kernel operations compute of each element, in the language of the ISA's semantics: what
// selection compares with instructions. The one place that says it.
#pragma once

#include "tilewright/compiler/patterns/patterns.h"
#include "tilewright/compiler/select/kernel_dialect.h"

namespace tilewright {

// A run of element-wise operations in program order, each but the last read by one of the others
// alone: a tree.
struct RunFunction {
  patterns::Function function;
  llvm::SmallVector<mlir::Value> operands, tables; // by Function::operands, Function::tables
};

// What stands on chip for a run.
struct RunContext {
  // Values of the group's anchor and of its other operations that the run reads, and where.
  struct OnChip {
    mlir::Value value;
    isa::Space space;
  };
  llvm::SmallVector<OnChip, 4> onChip;
  mlir::Value anchored; // the anchor's; null: there is no anchor
  // Added to it where a rescale reads it; one value, or one a channel.
  llvm::ArrayRef<int32_t> bias;
};

// All ways in which the run's function is written, the most general first: a scale of one, an
// offset of zero or a constant operand is also written out, so that instructions without such
// parameters match. Operands from outside may stand in either memory where they are 8 bits wide and
// signed.
std::vector<RunFunction> functionsOf(llvm::ArrayRef<mlir::Operation *> run,
                                     const RunContext &context);

// A value times a multiplier, shifted right: TOSA 1.0, apply_scale_32 with SINGLE_ROUND.
std::string scaled(std::string_view value, std::string_view multiplier, std::string_view shift);

// Whether functionsOf can write an operation: it computes each element of its result from those at
// the same place of its operands, and can continue a group.
bool hasScalarFunction(mlir::Operation *op);
llvm::SmallVector<mlir::Operation *> scalarOperationsOf(kernel::GroupOp group); // in order

} // namespace tilewright
