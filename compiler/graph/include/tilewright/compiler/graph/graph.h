// Passes on TOSA graphs that hold for float and integer graphs alike: what every later stage may
// rely on.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>

namespace tilewright {

struct FoldOptions {
  // Bytes of a constant that folding may create; one that is no larger than the constants it
  // replaces is always made.
  int64_t sizeCap = int64_t(16) << 20;
};

// `wide-decompose`: what TOSA's EXT-INT16 adds becomes arithmetic on 8 and 32 bits. Products of 16
// bits are made of those of 8-bit halves, 48-bit integers are two of 32 bits, also at the border of
// the module; pools of 16 bits and bilinear resizes are sums and maxima. Of integer graphs, before
// the other passes.
std::unique_ptr<mlir::Pass> createWideDecomposePass();

// `graph-fold`: constant folding (size-capped), batch normalization and scalar arithmetic folded
// into the convolution before it, pads folded into convolutions and pools, products with a constant
// matrix turned into 1x1 convolutions, identities and dead code removed. What scales a convolution
// in NCHW meets it only behind `graph-layout`: run it (again) after that.
std::unique_ptr<mlir::Pass> createGraphFoldPass(FoldOptions options = {});

// `graph-layout`: moves transposes through element-wise operators, pads, concats, slices and
// reductions until they cancel or reach the graph's border, folds them into constants and turns
// those that move no data (unit dimensions) into reshapes.
std::unique_ptr<mlir::Pass> createGraphLayoutPass();

// `graph-decompose`: transposed convolutions (TOSA 1.0 `transpose_conv2d`) on float32 and 8 bits
// become convolutions and movement of data, by MLIR's decomposition; those of three dimensions on 8
// bits have two, and what lies behind each other among the channels. Run it behind the others: a
// scale, an offset or a pad is folded into the transposed convolution first.
std::unique_ptr<mlir::Pass> createGraphDecomposePass();

// `integer-decompose`: booleans, comparisons, logic, selects and the index of a greatest element
// become arithmetic on 32 bits. Of integer graphs, at their end.
std::unique_ptr<mlir::Pass> createIntegerDecomposePass();

// Slices of one value, no two of which take the same element: what makes the value makes each part
// by itself, where its slice stands, back to the product or convolution behind which it is
// element-wise, or as far as nobody else reads what is made. What was made whole is left without
// readers.
void hoistParts(llvm::ArrayRef<mlir::tosa::SliceOp> slices);

// Registers all for tilewright-opt.
void registerGraphPasses();

} // namespace tilewright
