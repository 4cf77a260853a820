// What a kernel.rescale does, as far as the fusions ask.
#pragma once

#include "tilewright/compiler/select/kernel_dialect.h"

#include <optional>

namespace tilewright {

struct Scale {
  int64_t multiplier = 0;
  int64_t shift = 0;
  // x * multiplier / 2^shift is x itself for every x.
  bool isIdentity() const { return shift < 32 && multiplier == int64_t(1) << shift; }
};

// The one scale of a rescale; nothing when it has one for each channel.
std::optional<Scale> scalarScale(kernel::RescaleOp op);

// Whether the clamp is the whole range of the result's type, read as signed.
bool keepsRange(kernel::RescaleOp op);

// The rescale that gives x - input_zp of signed 8-bit elements in 32 bits, if the value is one;
// null: it is not.
kernel::RescaleOp wideningOf(mlir::Value value);

// Whether every value of the clamped range is the same number when its bits are read as signed.
bool givesSigned(kernel::RescaleOp op);

} // namespace tilewright
