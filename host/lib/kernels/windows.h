// The windows that convolutions and pools slide over the spatial dimensions of a tensor, seen as
// three: those that are missing stand in front, of one element.
#pragma once

#include "typed.h"

#include <array>

namespace tilewright::host {

using Triple = std::array<int64_t, 3>;

struct Windows {
  Triple image = {1, 1, 1}, kernel = {1, 1, 1}, strides = {1, 1, 1}, dilations = {1, 1, 1};
  Triple before = {}, after = {};
  Triple outputs = {1, 1, 1}; // windows along each dimension
  size_t rank = 0;            // spatial dimensions

  int64_t imageSize() const { return image[0] * image[1] * image[2]; }
  int64_t kernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t outputSize() const { return outputs[0] * outputs[1] * outputs[2]; }
  Shape outputShape(int64_t batch, int64_t channels) const;
  // The element of the image under element `tap` of window `window` along dimension `d`; it may lie
  // in the padding.
  int64_t at(size_t d, int64_t window, int64_t tap) const {
    return window * strides[d] - before[d] + tap * dilations[d];
  }
};

// Kernel, strides, dilations and explicit pads, from the attributes (without `kernel` kernel_shape
// too) and checked; not the number of windows.
Windows readWindows(const Call &call, const Shape &image, const Shape *kernel = nullptr);
// Also auto_pad, ceil_mode and the number of windows.
Windows slidingWindows(const Call &call, const Shape &image, const Shape *kernel = nullptr);

// The windows of one dimension that lie within the padded image.
int64_t windowsThatFit(const Windows &windows, size_t d);

Shape spatialPart(const Call &call, size_t input); // without batch and channels

// One window of an image: which taps along each dimension meet the image itself.
struct Taps {
  Triple begin, end;
};
Taps tapsOf(const Windows &windows, const Triple &window);

} // namespace tilewright::host
