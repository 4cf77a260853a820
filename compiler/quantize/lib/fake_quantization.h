// How exact an integer network will be, before it is compiled: the float network runs with the
// integers' weights, and its tensors are rounded on the way as the integer network rounds them.
// That takes the machine code that calibration has made already, where running the integer network
// would take compiling another one. What is left out: rounding within an operator (of rescales, of
// 16-bit values, of parts that are read with 8 bits of 16), and integer softmax.
#pragma once

#include "emit.h"

#include <optional>

namespace tilewright::quantization {

// What decides a network's answer: its results, or where softmax makes them what softmax reads, to
// which each sample contributes; of probabilities of nearly 0 and 1 the few others would tell.
std::vector<mlir::Value> decidingValues(mlir::func::FuncOp main, const Plan &plan);

// The deciding values that `executable` shows behind `watched` others, of each sample.
std::vector<std::vector<Tensor>> decidingTensors(const FloatExecutable &executable, size_t watched,
                                                 const Samples &samples, unsigned threads);

class FakeQuantization {
public:
  // `executable` shows `watched` and behind them the deciding values, which are `expected` on the
  // first samples. Refers to all of them.
  FakeQuantization(const FloatExecutable &executable, llvm::ArrayRef<mlir::Value> watched,
                   const std::vector<std::vector<Tensor>> &expected, const Samples &samples,
                   unsigned threads)
      : executable_(executable), watched_(watched), expected_(expected), samples_(samples),
        threads_(threads) {}

  // The signal-to-quantization-noise ratio of all deciding values together, in dB, 200 at most;
  // nothing when there is no signal, or what the float network makes of rounded tensors is not
  // finite. Takes `integer`'s constants away: nobody else reads them.
  std::optional<double> decibelsOf(IntegerModule &integer, const ParameterMap &parameters) const;

  // Of `candidates`, few whose rounding makes most of the noise that rounding all tensors makes;
  // none where many do alike.
  std::vector<mlir::Value> loudest(const IntegerModule &integer, const ParameterMap &parameters,
                                   llvm::ArrayRef<mlir::Value> candidates) const;

  // The noise that the rounding of each candidate makes alone, together with that of the weights
  // that convolutions multiply it with, but for weights that stay as `kept` has them. In parts of
  // the signal.
  std::vector<double> noises(const IntegerModule &integer, const ParameterMap &parameters,
                             llvm::ArrayRef<mlir::Value> candidates,
                             const std::vector<FloatExecutable::Replacement> &kept) const;

private:
  // The deciding values of each sample that has expected ones.
  template <typename Change>
  std::vector<std::vector<Tensor>> run(const FloatExecutable &executable, const Change &change,
                                       size_t most = SIZE_MAX) const;
  // Of what was found beside what is right.
  std::pair<double, double> signalAndNoise(const std::vector<std::vector<Tensor>> &found) const;

  const FloatExecutable &executable_;
  llvm::ArrayRef<mlir::Value> watched_;
  const std::vector<std::vector<Tensor>> &expected_;
  const Samples &samples_;
  unsigned threads_;
};

} // namespace tilewright::quantization
