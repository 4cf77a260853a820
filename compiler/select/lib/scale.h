// What a kernel.rescale does, as far as the fusions ask.
#pragma once

#include "tilewright/compiler/select/kernel_dialect.h"

namespace tilewright {

// Whether the clamp is the whole range of the result's type, read as signed.
bool keepsRange(kernel::RescaleOp op);

// The rescale that gives x - input_zp of signed 8-bit elements in 32 bits, if the value is one;
// null: it is not.
kernel::RescaleOp wideningOf(mlir::Value value);

// Whether every value of the clamped range is the same number when its bits are read as signed.
bool givesSigned(kernel::RescaleOp op);

} // namespace tilewright
