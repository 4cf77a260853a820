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
};

// Runs `main` on every sample, twice: for the ends of the ranges, then for what lies between.
// Throws UserError when a tensor is not finite.
Statistics collectStatistics(FloatExecutable &executable, mlir::Block &main, const Samples &samples,
                             const std::vector<mlir::Value> &ranged,
                             const Equalization &equalization);

} // namespace tilewright::quantization
