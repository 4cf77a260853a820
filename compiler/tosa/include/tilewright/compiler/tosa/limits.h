// How large operators may be; tensors: support/shape.h.
#pragma once

#include "tilewright/support/shape.h"

#include <cstdint>

namespace tilewright {

// TOSA's level 8K (MAX_RANK, MAX_KERNEL, which bounds pads too, MAX_STRIDE), which MLIR's
// validation of TOSA takes as the default too.
constexpr int64_t maxRank = 6;
constexpr int64_t maxKernel = 8192;
constexpr int64_t maxStride = 8192;

} // namespace tilewright
