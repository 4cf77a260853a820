// The rewrites that the graph passes are made of; each group is a file of its own.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {

// Ops of constants become constants, unless the result is larger than its operands and than
// `sizeCap` bytes.
void addConstantFolding(mlir::RewritePatternSet &patterns, int64_t sizeCap);
// Ops that change nothing go; sequences of clamps, of reshapes, of transposes, and of sums or
// products with constants become one op.
void addSimplifications(mlir::RewritePatternSet &patterns);
// Scales, offsets and pads become part of the convolution or pool beside them.
void addConvolutionFolding(mlir::RewritePatternSet &patterns);
// Averages and factors of whole images are computed of what they are made of.
void addImageFolding(mlir::RewritePatternSet &patterns);
// Products with a constant matrix become 1x1 convolutions, which have per-channel weights and a
// bias.
void addMatmulFolding(mlir::RewritePatternSet &patterns);
// Convolutions in groups become one with zeros between the groups; what only puts channels into
// another order becomes an order of weights.
void addChannelGroups(mlir::RewritePatternSet &patterns);
// Reshapes that only add or drop unit dimensions move behind element-wise ops.
void addReshapeSinking(mlir::RewritePatternSet &patterns);
// Slices move before what they alone read a part of, so that the rest is not computed. Returns
// whether any did.
bool hoistSlices(mlir::func::FuncOp function);

// Transposes move towards the results, and merge.
void addTransposeSinking(mlir::RewritePatternSet &patterns);
// Transposes of what only element-wise ops separate from an argument move to the argument.
void addTransposeHoisting(mlir::RewritePatternSet &patterns);
// Transposes that move no data become reshapes.
void addTransposeToReshape(mlir::RewritePatternSet &patterns);

} // namespace tilewright
