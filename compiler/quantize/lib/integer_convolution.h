// Convolutions on integers, of 8 or 16 bits.
#pragma once

#include "integer_filters.h"
#include "quantized_value.h"
#include "tilewright/compiler/tosa/integer_builder.h"

namespace tilewright::quantization {

// The sums of `op`, a convolution of a float graph, on `x` with its filter's integers. `x` has 8
// bits where the filter says that it is narrowed.
Accumulator convolve(IntegerBuilder &integer, mlir::Operation *op, const Quantized &x,
                     IntegerFilter own);

} // namespace tilewright::quantization
