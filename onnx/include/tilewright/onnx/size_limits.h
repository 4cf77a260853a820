// How large a model's tensors may be.
#pragma once

#include "tilewright/support/shape.h"

#include <cstdint>

namespace tilewright::onnx {

// Largest constant that the importer computes from other constants, and all of them together: an
// 85-byte model can ask for gigabytes.
constexpr int64_t maxFoldBytes = int64_t(16) << 20;
constexpr int64_t maxFoldTotalBytes = int64_t(256) << 20;

// Dimensions of a constant; of a tensor of the graph, TOSA allows fewer.
constexpr int maxConstantRank = 16;

} // namespace tilewright::onnx
