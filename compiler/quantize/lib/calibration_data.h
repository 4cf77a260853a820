// Calibration data as @main's arguments.
#pragma once

#include "statistics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::quantization {

// Throws UserError naming the input that is missing, unknown, or does not fit.
Samples samplesOf(mlir::func::FuncOp main, const CalibrationData &data);

} // namespace tilewright::quantization
