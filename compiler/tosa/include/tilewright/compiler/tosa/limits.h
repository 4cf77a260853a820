// How large operators and tensors may be.
#pragma once

#include <cstdint>

namespace tilewright {

// TOSA's level 8K (MAX_RANK, MAX_KERNEL, which bounds pads too, MAX_STRIDE), which MLIR's
// validation of TOSA takes as the default too.
constexpr int64_t maxRank = 6;
constexpr int64_t maxKernel = 8192;
constexpr int64_t maxStride = 8192;

// Largest tensor, constant or computed, in bytes; with it no size computed from dimensions
// overflows.
constexpr int64_t maxTensorBytes = int64_t(1) << 31;

} // namespace tilewright
