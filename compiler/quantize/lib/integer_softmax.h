// Softmax on integers.
#pragma once

#include "integer_sum.h"

#include <vector>

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
  int64_t axis = 0;
};
// `isBlock`: of a part of the row.
Exponentials buildExponentials(IntegerBuilder &integer, const Sum &logits, int64_t axis,
                               bool isBlock);

// What each block's exponentials are multiplied by, so that those of all blocks are divided by
// their sum: of one block that sum's inverse. Of several, exponentials are of differences to the
// block's own greatest logit, which count for less where another block has a greater one, as in
// Flash-Decoding (Dao et al., 2023). Logits of all blocks have one scale, and so have the factors.
std::vector<Sum> buildFactors(IntegerBuilder &integer, llvm::ArrayRef<Exponentials> blocks);

} // namespace tilewright::quantization
