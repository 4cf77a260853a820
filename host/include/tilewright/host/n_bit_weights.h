// Weights of 2, 4 or 8 bits in blocks, as com.microsoft's MatMulNBits has them.
#pragma once

#include "tilewright/host/call.h"

namespace tilewright::host {

// The matrix [K, N] that the inputs 1 to 3 of such a node stand for: packed weights, a scale of
// each block, and a zero point of each, where they are given.
Tensor nBitWeights(const Call &call);

} // namespace tilewright::host
