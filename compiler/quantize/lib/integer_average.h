// Averages over whole images and windows.
#pragma once

#include "integer_sum.h"
#include "quantized_value.h"
#include "statistics.h"
#include "tilewright/compiler/tosa/integer_builder.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace tilewright::quantization {

// The average over an image varies less than its pixels, so it wants a scale of its own, which
// TOSA's pool cannot give, and more precision than averages of 8 bits have: a depthwise
// convolution with weights of 1 sums up windows, and windows are summed up in 32 bits.
// `x`: `real`, [N, H, W, C], as integers.
Accumulator averageImage(IntegerBuilder &integer, Quantized x, mlir::Value real,
                         const Statistics &statistics);

// Whether sums of `pool`'s windows, of which pads make some smaller, can be brought to one divisor.
bool hasExactMean(mlir::tosa::AvgPool2dOp pool);
// Of `x`, [N, H, W, C], 8 bits, over the windows of `pool`.
Sum averageWindows(IntegerBuilder &integer, const Quantized &x, mlir::tosa::AvgPool2dOp pool);

} // namespace tilewright::quantization
