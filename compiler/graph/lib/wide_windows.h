// Pools of 16 bits and bilinear resizes, in terms of what the machine computes.
#pragma once

#include "wide_value.h"

namespace tilewright {

// 16-bit activations in two parts of 8: x = 256 * high + (low + 128).
struct SplitActivations {
  static constexpr int highShift = 8;      // of the high part
  static constexpr int64_t lowZero = -128; // zero point of the low part

  mlir::Value high, low;
};
SplitActivations splitActivations(quantization::IntegerBuilder &integer, mlir::Value value);

mlir::Value decomposeMaxPool(quantization::IntegerBuilder &integer, mlir::tosa::MaxPool2dOp op);
// Null: the sum of a window needs more than 32 bits.
mlir::Value decomposeAveragePool(quantization::IntegerBuilder &integer, mlir::tosa::AvgPool2dOp op);

// The result is the sum of the terms: of 8 bits there is one, and it is not shifted.
llvm::SmallVector<WideTerm> decomposeBilinear(quantization::IntegerBuilder &integer,
                                              mlir::tosa::ResizeOp op);

} // namespace tilewright
