// Softmax on integers.
#pragma once

#include "integer_sum.h"

namespace tilewright::quantization {

// exp(logits - max) / sum(exp(logits - max)) along `axis`, with tables of 16 bits.
mlir::Value buildSoftmax(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                         const Parameters &output);

// The same without the division, for a product of matrices that takes the quotient behind it: 8
// bits of exp(logits - max), and the inverse of their sum. Dividing rounded exponentials by their
// own sum keeps what probabilities in 8 bits lose where there are many of them.
struct Exponentials {
  mlir::Value value; // 8 bits
  Parameters parameters;
  Sum inverse; // of the sum of value - zeroPoint
};
Exponentials buildExponentials(IntegerBuilder &integer, const Sum &logits, int64_t axis);

} // namespace tilewright::quantization
