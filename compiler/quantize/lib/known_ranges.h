// Ranges that a quantized model says itself, so that no samples have to.
//
//   1. A value that the model stores has the range of its integers.
//   2. Of a value that it leaves open, interval arithmetic on what is known: tables, moves,
//      concatenations, averages, sums and products of two tensors.
//   3. So of convolutions whose result has 16 bits or more. The bound is far beyond what occurs,
//      for which 8 bits would be too coarse: those need samples.
#pragma once

#include "equalize.h"

#include <optional>

namespace tilewright::quantization {

// Of all `watched`; or `unknown`, the first one that samples are needed for.
struct KnownRanges {
  llvm::DenseMap<mlir::Value, ChannelRange> ranges;
  mlir::Value unknown;
};
KnownRanges knownRanges(const Plan &plan, const std::vector<mlir::Value> &watched);

} // namespace tilewright::quantization
