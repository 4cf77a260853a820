// What the calibration samples say about the tensors of a float graph.
#pragma once

#include "equalize.h"
#include "histogram.h"
#include "moments.h"

#include "tilewright/compiler/float/float_execution.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::quantization {

// The samples as @main's arguments: [sample][argument].
using Samples = std::vector<std::vector<Tensor>>;

// What a run on every sample shows.
struct Observations {
  std::vector<mlir::Value> watched;
  // Of each channel, unscaled.
  llvm::DenseMap<mlir::Value, std::vector<double>> means;
  llvm::DenseMap<mlir::Value, std::vector<ChannelRange>> ranges;
  size_t samples = 0;
  // Second moments of what each convolution reads (moments.h), for those that are worth it.
  llvm::DenseMap<mlir::Operation *, Moments> moments;
  // What `executable` shows behind `watched`, of each of the first samples.
  std::vector<std::vector<Tensor>> further;
};

// Factors for the channels of a watched tensor (equalize.h). 1 for all where too few values of each
// were seen to tell its range: what is unseen would leave it, and be cut off.
std::vector<double> factorsOf(const Observations &observed, mlir::Value value, double strength);

// What there are statistics of: all values with a range, and what convolutions read. The same for
// plans of every precision.
std::vector<mlir::Value> watchedValues(const Plan &plan);

// Tensors of watched values on every sample, so that a second run need not make them.
struct KeptTensors {
  std::vector<size_t> numbers;              // of the values among `watched`
  std::vector<std::vector<Tensor>> tensors; // [sample][which of `numbers`]
};

// Of the values that are to be counted the last ones, which take the longest to make again, as far
// as the memory for that reaches.
KeptTensors tensorsToKeep(const std::vector<mlir::Value> &watched,
                          const llvm::DenseSet<mlir::Value> &counted, size_t samples);

// Runs the model on every sample; `executable` shows `watched`, and `further` values behind them.
// Throws UserError when a tensor is not finite.
Observations observe(const FloatExecutable &executable, const Samples &samples, const Plan &plan,
                     const std::vector<mlir::Value> &watched, size_t further, KeptTensors &kept,
                     unsigned threads);

// The same where the model says all that samples would: `given` has the range of each value that is
// watched.
Observations observationsOf(const std::vector<mlir::Value> &watched,
                            const llvm::DenseMap<mlir::Value, ChannelRange> &given);

// What one plan makes of observations.
struct Statistics {
  explicit Statistics(const Observations &observed) : observed(observed) {}

  const Observations &observed;
  llvm::DenseMap<mlir::Value, Histogram> histograms;
  // Of equalized tensors: what each channel is multiplied with. Their histograms show the scaled
  // values.
  llvm::DenseMap<mlir::Value, std::vector<double>> channelFactors;
};

// The ends of the histograms; of `counted` values, what lies between, too.
struct StatisticsWanted {
  Precision precision = Precision::Standard;
  Equalization equalization;
  llvm::DenseSet<mlir::Value> counted;
};
// Of several plans, one each: a second run on every sample serves all of them, and makes what is
// counted and was not kept; `executable` may be null where there is nothing of that. The result
// refers to `observed`.
std::vector<Statistics> statisticsOf(const Observations &observed,
                                     const FloatExecutable *executable, const Samples &samples,
                                     llvm::ArrayRef<StatisticsWanted> wanted,
                                     const KeptTensors &kept, unsigned threads);

} // namespace tilewright::quantization
