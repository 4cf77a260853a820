// Rewrites a float TOSA graph so that what follows needs fewer and finer integer operators:
//
//   1. A product with a constant matrix becomes a 1x1 convolution.
//   2. Per-channel (or scalar) constants that are added to or multiplied with a convolution's
//   result go into its bias and weights.
//   3. Per-channel arithmetic elsewhere becomes a 1x1 depthwise convolution, whose weights and bias
//   are exact.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::quantization {

void prepare(mlir::func::FuncOp main);

// Before samples are read: arguments that are bytes, of which nothing but casts were made, are
// floats that need no instruction to become so; a picture's normalization goes into the
// convolutions that read it where that is exact.
void takeBytes(mlir::func::FuncOp main);

} // namespace tilewright::quantization
