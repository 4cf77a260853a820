// Softmax on integers.
#pragma once

#include "integer_sum.h"

#include <vector>

namespace tilewright::quantization {

// exp(logits - max) / sum(exp(logits - max)) along `axis`, with tables of 16 bits.
mlir::Value buildSoftmax(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                         const Parameters &output);

// The same of 16 bits, where 32 bits of a row fill the accumulators: nothing of a row's length has
// more than 16 bits but on the way from one operator to the next. Exponentials are taken twice.
mlir::Value buildSoftmaxOfLongRows(IntegerBuilder &integer, const Quantized &logits, int64_t axis,
                                   const Parameters &output);

// The same without the division, for a product of matrices that takes the quotient behind it: 8
// bits of exp(logits - max), and their sum. Dividing rounded exponentials by their own sum keeps
// what probabilities in 8 bits lose where there are many of them.
struct Exponentials {
  mlir::Value value; // 8 bits
  Parameters parameters;
  Sum greatest; // of the logits
  int64_t axis = 0;
};
// `isBlock`: of a part of the row.
Exponentials buildExponentials(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                               bool isBlock);

// Of value - zeroPoint, along the axis.
Sum totalOf(IntegerBuilder &integer, const Exponentials &exponentials);
// Of such a sum, or of those of all blocks, each times what it counts for.
Sum inverseOf(IntegerBuilder &integer, const Sum &total);

// What the exponentials of each block, which are of differences to its own greatest logit, count
// for beside those of the others, as in Flash-Decoding (Dao et al., 2023): 2^powerBits stands for
// 1. Logits of all blocks have one scale.
constexpr int powerBits = 22;
struct Powers {
  Sum greatest; // of all
  std::vector<mlir::Value> values;
};
Powers buildPowers(IntegerBuilder &integer, llvm::ArrayRef<Sum> greatest);
// The sum of one block's with bits below those of integers, which what it counts for leaves.
Sum refinedTotal(IntegerBuilder &integer, const Sum &total);

} // namespace tilewright::quantization
