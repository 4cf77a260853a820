// Gives every value of a planned graph its integer parameters.
#pragma once

#include "plan.h"
#include "statistics.h"

namespace tilewright::quantization {

using ParameterMap = llvm::DenseMap<mlir::Value, Parameters>;

ParameterMap assignParameters(mlir::func::FuncOp main, const Plan &plan,
                              const Statistics &statistics, const QuantizeOptions &options);

// Logits stand at this scale, of which the exponential's table drops the last bits.
constexpr double logitScale = 1.0 / (1 << 16);

} // namespace tilewright::quantization
