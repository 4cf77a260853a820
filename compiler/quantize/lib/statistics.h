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
  // Of each channel, unscaled.
  llvm::DenseMap<mlir::Value, std::vector<double>> means;
  llvm::DenseMap<mlir::Value, std::vector<ChannelRange>> ranges;
  // Second moments of what each convolution reads (moments.h), for those that are worth it.
  llvm::DenseMap<mlir::Operation *, std::vector<float>> moments;
};

// What there are statistics of: all values with a range, and what convolutions read.
std::vector<mlir::Value> watchedValues(const Plan &plan);

// Runs the model on every sample: once for the ends of the ranges; a second time, `withCounts`, for
// what lies between. `executable` shows `watched`. Throws UserError when a tensor is not finite.
Statistics collectStatistics(const FloatExecutable &executable, const Samples &samples,
                             const Plan &plan, const std::vector<mlir::Value> &watched,
                             const Equalization &equalization, bool withCounts, unsigned threads);

} // namespace tilewright::quantization
