// A convolution's constants and what is known of what they are multiplied with, as plain numbers:
// threads may work on several at a time, where MLIR's context is for one.
#pragma once

#include "tilewright/compiler/tosa/constant_floats.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace tilewright::quantization {

struct Filter {
  llvm::SmallVector<int64_t> shape; // [OC, KH, KW, IC], or [KH, KW, C, M] of a depthwise one
  bool isDepthwise = false;
  ConstantFloats weights;
  std::vector<double> bias; // of each output, scaled
  // What the scaled constants hold for each channel that is read, and for each output; or empty.
  std::vector<double> inputFactors, outputFactors;
  std::vector<double> inputMeans; // of each channel that is read, not scaled
  std::vector<double> covered;    // of each tap: the share of its products that lie on the image
  // Of the scaled inputs, [K, K], or [C, K, K] of a depthwise one; or empty (moments.h).
  std::vector<double> inputMoments;
  int64_t momentPixels = 0;  // of the result, that the moments are of
  bool keepsWeights = false; // where they are multiples of a step (weight_grid.h)

  size_t outputs() const { return bias.size(); }
  size_t perOutput() const { return weights.size() / outputs(); }
  // Where the k-th weight of an output stands.
  size_t place(size_t output, size_t k) const {
    return isDepthwise ? k * outputs() + output : output * perOutput() + k;
  }
  // The input channel that it is multiplied with.
  size_t inputOf(size_t output, size_t k) const {
    return isDepthwise ? output / static_cast<size_t>(shape[3]) : k % static_cast<size_t>(shape[3]);
  }
  size_t tapOf(size_t k) const { return isDepthwise ? k : k / static_cast<size_t>(shape[3]); }

  // The weights of an output, scaled.
  void scaledWeights(size_t output, std::vector<double> &row) const;
  // The means of what they are multiplied with, scaled; empty `inputMeans` are zeros.
  void scaledMeans(size_t output, std::vector<double> &row) const;
};

} // namespace tilewright::quantization
