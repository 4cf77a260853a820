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

// Runs the model on every sample: once for the ends of the ranges; a second time, `withCounts`, for
// what lies between. `executable` watches `ranged`. Throws UserError when a tensor is not finite.
Statistics collectStatistics(const FloatExecutable &executable, const Samples &samples,
                             const std::vector<mlir::Value> &ranged,
                             const Equalization &equalization, bool withCounts);

} // namespace tilewright::quantization
