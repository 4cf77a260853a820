// Writes the integer module of a planned graph with parameters.
#pragma once

#include "assign.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace tilewright::quantization {

// An integer value of the result that stands for a float value of the source.
struct Correspondence {
  mlir::Value real;
  mlir::Value integer;
  Parameters parameters;
  std::vector<double> channelFactors; // of the integers, when the tensor was equalized
};

struct IntegerModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Correspondence> values; // in program order, without arguments
  // What integer constants stand for, in place of the real ones: weights, biases, operands. Empty
  // unless asked for.
  std::vector<FloatExecutable::Replacement> constants;
};

IntegerModule emitInteger(mlir::func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
                          const Statistics &statistics, const QuantizeOptions &options,
                          bool withReals, unsigned threads);

} // namespace tilewright::quantization
