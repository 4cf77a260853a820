// Channel equalization: where one convolution alone feeds another, the channels between them may be
// scaled freely, one convolution's weights up and the other's down. With ranges alike, 8 bits serve
// all channels.
#pragma once

#include "plan.h"

namespace tilewright::quantization {

// How far the channels of a tensor are brought to one range: 0 not at all, 1 completely.
using Equalization = llvm::DenseMap<mlir::Value, double>;

// The tensors that can be equalized. Scaling them commutes with what the anchor's rescale does
// besides: nothing, ReLU, or ReLU with an upper bound, which stays the bound of all scaled channels
// (those that never reach it saturate at their own greatest value).
Equalization findEqualizable(const Plan &plan);

// How far those are that `consumer`, a convolution, reads.
double strengthFor(mlir::Operation *consumer);

struct ChannelRange {
  double low = 0; // at most 0
  double high = 0;
};

// Factors for channels of these ranges, with which one scale for all gives the least noise.
std::vector<double> channelFactors(const std::vector<ChannelRange> &ranges, double strength);

} // namespace tilewright::quantization
