// 8-bit weights, a scale for each output channel; symmetric but where the model has a zero point.
#pragma once

#include "filter.h"

#include "tilewright/support/npy.h"

#include <cstdint>
#include <vector>

namespace tilewright::quantization {

struct QuantizedWeights {
  std::vector<int8_t> weights; // in the order of the real ones
  std::vector<int64_t> bias;   // one a channel, at the accumulator's scale
  std::vector<double> scales;  // of the accumulator: input scale times the channel's weight scale
  int64_t zeroPoint = 0;       // of all weights
};

// The bias makes up for what rounding the weights does to the mean of the output. By second moments
// errors of one output's weights make up for each other; without them each weight is rounded to the
// nearest.
QuantizedWeights quantizeWeights(const Filter &filter, double inputScale);

// What the integers stand for, in place of the filter's own constants.
struct RealWeights {
  explicit RealWeights(const Filter &filter);
  void set(const Filter &filter, const QuantizedWeights &quantized, double inputScale);

  Tensor weights, bias;
};

} // namespace tilewright::quantization
