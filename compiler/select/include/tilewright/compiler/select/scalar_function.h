// What kernel operations compute of each element, in the language of the ISA's semantics: what
// selection compares with instructions. The one place that says it.
#pragma once

#include "tilewright/compiler/patterns/patterns.h"
#include "tilewright/compiler/select/kernel_dialect.h"

namespace tilewright {

// A run of element-wise operations in program order, each but the last read by one of the others
// alone.
struct RunFunction {
  patterns::Function function;
  llvm::SmallVector<mlir::Value> operands, tables; // by Function::operands, Function::tables
};

struct RunContext {
  // What the operation before the run gives; null: nothing. It stands in the scratchpad or, else,
  // in the accumulators.
  mlir::Value entering;
  bool enteringIsNarrow = false;
  // The group's operations before that one: their values, where the run reads them, stand in the
  // accumulators.
  llvm::ArrayRef<mlir::Operation *> earlier;
  // Added to what the first operation reads, when that is a rescale; one value, or one a channel.
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

// Whether an operation, or several, read a value.
bool reads(llvm::ArrayRef<mlir::Operation *> run, mlir::Value value);

// Whether functionsOf can write an operation.
bool hasScalarFunction(mlir::Operation *op);

} // namespace tilewright
