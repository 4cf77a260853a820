// What the calibration samples say about the tensors of a float graph.
#pragma once

#include "equalize.h"
#include "histogram.h"

#include "tilewright/compiler/float_execution.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::quantization {

// The samples as @main's arguments: [sample][argument].
using Samples = std::vector<std::vector<Tensor>>;

struct Statistics {
  llvm::DenseMap<mlir::Value, Histogram> histograms;
  // Of equalized tensors: what each channel is multiplied with. Their histograms show the scaled
  // values.
  llvm::DenseMap<mlir::Value, std::vector<double>> channelFactors;
  llvm::DenseMap<mlir::Value, std::vector<double>> means; // of each channel, unscaled
};

// What there are statistics of: all values with a range, and what convolutions read.
std::vector<mlir::Value> watchedValues(const Plan &plan);

// Runs the model on every sample: once for the ends of the ranges; a second time, `withCounts`, for
// what lies between. `executable` shows `watched`. Throws UserError when a tensor is not finite.
Statistics collectStatistics(const FloatExecutable &executable, const Samples &samples,
                             const std::vector<mlir::Value> &watched,
                             const Equalization &equalization, bool withCounts, unsigned threads);

} // namespace tilewright::quantization
