// Gives every value of a planned graph its integer parameters. The scale of 32-bit sums is known
// when they are written.
#pragma once

#include "plan.h"
#include "statistics.h"

namespace tilewright::quantization {

using ParameterMap = llvm::DenseMap<mlir::Value, Parameters>;

// Of which values the parameters depend on counts between the ends of the range.
llvm::DenseSet<mlir::Value> countedValues(const Plan &plan, const QuantizeOptions &options,
                                          size_t samples);

ParameterMap assignParameters(mlir::func::FuncOp main, const Plan &plan,
                              const Statistics &statistics, const QuantizeOptions &options);

} // namespace tilewright::quantization
