// What a depthwise convolution or a pool computes, without IR types.
#pragma once

#include "tilewright/compiler/schedule/taps.h"

namespace tilewright {

struct WindowProblem {
  int64_t batch, height, width, channels; // channels of the result
  int64_t inputChannels, multiplier; // depthwise: result channel = input channel * multiplier + m
  int64_t outputHeight, outputWidth;
  int64_t kernelHeight, kernelWidth, strideY, strideX, dilationY = 1, dilationX = 1, padTop,
                                                       padLeft;
  int64_t padValue = 0;
  WindowAxis rows() const { return {kernelHeight, strideY, dilationY, padTop, height}; }
  WindowAxis columns() const { return {kernelWidth, strideX, dilationX, padLeft, width}; }
};

} // namespace tilewright
