// Softmax in integers.
#pragma once

#include "tilewright/compiler/tosa/integer_builder.h"

namespace tilewright::quantization {

// `logits`: 32 bits at logitScale (assign.h). The result stands for probabilities by `output`.
//
//   d = x - max(x)                     in [-16, 0], what is below counts as -16
//   e = exp(d)                         16-bit table with interpolation, 22 fraction bits
//   s = sum(e), normalized to m * 2^k with m in [1, 2)
//   y = e * (1 / m) >> k               1 / m from a second table
mlir::Value buildSoftmax(IntegerBuilder &builder, mlir::Value logits, int64_t axis,
                         const Parameters &output);

} // namespace tilewright::quantization
