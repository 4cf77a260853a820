// Softmax on integers.
#pragma once

#include "integer_sum.h"

namespace tilewright::quantization {

// exp(logits - max) / sum(exp(logits - max)) along `axis`, with tables of 16 bits.
mlir::Value buildSoftmax(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                         const Parameters &output);

// The same without the division, for a product of matrices that takes the quotient behind it: 8
// bits of exp(logits - max), and their sum. Dividing rounded exponentials by their own sum keeps
// what probabilities in 8 bits lose where there are many of them.
struct Exponentials {
  mlir::Value value; // 8 bits
  Parameters parameters;
  Sum greatest; // of the logits
  Sum total;    // of value - zeroPoint
};
Exponentials buildExponentials(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                               bool isBlock);
// Of such a sum, or of one of several blocks.
Sum inverseOfTotal(IntegerBuilder &integer, const Sum &total);

// Rows in blocks, one after the other: what is summed up is relative to the greatest logit so far,
// as in online softmax (Milakov and Gimelshein, arXiv 1805.02867) and FlashAttention (arXiv
// 2205.14135), and each block's exponentials to their own.
struct Running {
  Sum greatest;        // of the logits
  Sum total;           // of exponentials
  mlir::Value weighed; // 32 bits: what they weigh, summed up
};
// Of one block. Rows of `weighed` are those of the exponentials, in the same order.
Running startRunning(IntegerBuilder &integer, const Exponentials &block, mlir::Value weighed);
// Both of logits at one scale.
Running joined(IntegerBuilder &integer, const Running &before, const Running &block);

} // namespace tilewright::quantization
