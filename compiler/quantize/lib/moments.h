// Second moments of what a convolution's weights are multiplied with: how much an error of one
// weight can make up for another's.
#pragma once

#include "mlir/IR/Operation.h"
#include "tilewright/support/npy.h"

#include <vector>

namespace tilewright::quantization {

struct Moments {
  // For weights [OC, KH, KW, IC]: [K, K], K = KH * KW * IC. For those of a depthwise convolution,
  // [KH, KW, C, M]: [C, K, K], K = KH * KW. The lower triangles. Empty where there are too many.
  std::vector<float> values;
  int64_t pixels = 0; // of the result, that they are sums over
};

// Sums over samples, each represented by some of the convolution's output pixels.
class MomentSums {
public:
  // The convolution's moments stay empty when it has more weights for an output than are worth it.
  explicit MomentSums(mlir::Operation *convolution);

  void add(const Tensor &input);
  void merge(const MomentSums &other);

  Moments moments() const;

private:
  void addDense();
  void addDepthwise();

  bool isDepthwise_ = false;
  int64_t kernel_[2] = {0, 0}, stride_[2] = {1, 1}, before_[2] = {0, 0}, dilation_[2] = {1, 1};
  int64_t input_[3] = {0, 0, 0}, output_[2] = {0, 0}; // rows, columns, channels
  int64_t samples_ = 0, pixels_ = 0;
  std::vector<float> sums_;  // [K, K], or [K, K, C]
  std::vector<float> patch_; // scratch: [K], or [K, C]
};

} // namespace tilewright::quantization
