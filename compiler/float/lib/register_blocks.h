// Reductions on buffers as blocks of sums that registers hold while the reduction runs.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright::float_kernels {

// How much of a processor's registers one block of sums takes.
struct BlockShape {
  int64_t lanes = 8;   // of a vector, a power of two
  int64_t vectors = 2; // side by side along the output's last dimension
  int64_t rows = 6;    // along the dimension before it, at most
};

// Replaces a reduction, of static shape, by loops over blocks; `innermost` is the parallel loop
// that runs over the output's last dimension. Every element is made by the same operations in the
// same order as by plain loops with the reduction in them: in the order of the reduction's loops.
// Fails, and changes nothing, where operands cannot be read as vectors, and where plain loops are
// soon done.
//
//   1. The last dimension is cut into blocks of vectors; what is left, into smaller powers of two.
//   2. Of an operand that only reductions and the last dimension index (weights), what a block
//      needs is copied so that its vectors lie side by side.
//   3. Around each block of rows and vectors stand the other parallel loops, within it the
//      reductions, whose loops carry the sums.
mlir::LogicalResult lowerInBlocks(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                                  unsigned innermost, const BlockShape &shape);

} // namespace tilewright::float_kernels
