#include "moments.h"

#include "graph_queries.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>

using namespace mlir;

namespace tilewright::quantization {

constexpr int64_t most = 256;           // weights for an output
constexpr int64_t pixelsOfASample = 12; // neighbors say nearly the same

MomentSums::MomentSums(Operation *convolution)
    : isDepthwise_(isa<tosa::DepthwiseConv2DOp>(convolution)) {
  auto numbers = [&](const char *name) {
    return cast<DenseI64ArrayAttr>(convolution->getAttr(name)).asArrayRef();
  };
  ArrayRef<int64_t> weights = tensorType(convolution->getOperand(1)).getShape(),
                    input = tensorType(convolution->getOperand(0)).getShape(),
                    output = tensorType(convolution->getResult(0)).getShape();
  for (int axis : {0, 1}) {
    kernel_[axis] = weights[isDepthwise_ ? axis : axis + 1];
    stride_[axis] = numbers("stride")[axis];
    before_[axis] = numbers("pad")[size_t{2} * axis];
    dilation_[axis] = numbers("dilation")[axis];
    input_[axis] = input[axis + 1];
    output_[axis] = output[axis + 1];
  }
  input_[2] = input[3];
  int64_t taps = kernel_[0] * kernel_[1], perOutput = isDepthwise_ ? taps : taps * input[3];
  if (perOutput > most)
    return;
  sums_.resize(perOutput * perOutput * (isDepthwise_ ? input[3] : 1));
  patch_.resize(taps * input[3]);
}

void MomentSums::add(const Tensor &input) {
  if (sums_.empty())
    return;
  // Spread over the image, and elsewhere in each sample.
  int64_t pixels = output_[0] * output_[1], count = std::min(pixels, pixelsOfASample);
  for (int64_t i = 0; i < count; ++i) {
    int64_t pixel = (i * pixels / count + samples_ * 7) % pixels;
    int64_t row = pixel / output_[1], column = pixel % output_[1];
    std::fill(patch_.begin(), patch_.end(), 0.0f);
    float *at = patch_.data();
    for (int64_t v = 0; v < kernel_[0]; ++v)
      for (int64_t u = 0; u < kernel_[1]; ++u, at += input_[2]) {
        int64_t y = row * stride_[0] - before_[0] + v * dilation_[0],
                x = column * stride_[1] - before_[1] + u * dilation_[1];
        if (y >= 0 && y < input_[0] && x >= 0 && x < input_[1])
          std::copy_n(input.data<float>() + (y * input_[1] + x) * input_[2], input_[2], at);
      }
    isDepthwise_ ? addDepthwise() : addDense();
  }
  ++samples_;
  pixels_ += count;
}

void MomentSums::addDense() {
  auto size = static_cast<int64_t>(patch_.size());
  const float *__restrict patch = patch_.data();
  for (int64_t i = 0; i < size; ++i) {
    float *__restrict sums = sums_.data() + i * size;
    float value = patch[i];
    if (value != 0)
      for (int64_t j = 0; j <= i; ++j)
        sums[j] += value * patch[j];
  }
}

void MomentSums::addDepthwise() {
  int64_t channels = input_[2], taps = kernel_[0] * kernel_[1];
  for (int64_t i = 0; i < taps; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      float *__restrict sums = sums_.data() + (i * taps + j) * channels;
      const float *__restrict a = patch_.data() + i * channels, *__restrict b =
                                                                    patch_.data() + j * channels;
      for (int64_t c = 0; c < channels; ++c)
        sums[c] += a[c] * b[c];
    }
}

void MomentSums::merge(const MomentSums &other) {
  for (size_t i = 0; i < sums_.size(); ++i)
    sums_[i] += other.sums_[i];
  pixels_ += other.pixels_;
}

Moments MomentSums::moments() const {
  if (!isDepthwise_ || sums_.empty())
    return {sums_, pixels_};
  std::vector<float> result(sums_.size());
  int64_t channels = input_[2], pairs = static_cast<int64_t>(sums_.size()) / channels;
  for (int64_t pair = 0; pair < pairs; ++pair)
    for (int64_t c = 0; c < channels; ++c)
      result[c * pairs + pair] = sums_[pair * channels + c];
  return {result, pixels_};
}

} // namespace tilewright::quantization
