// Convolutions of three dimensions as such of two.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace tilewright {

// What lies behind each other in a window stands among the channels instead, and each depth of the
// result is an image of its own.
void decomposeConv3D(mlir::tosa::Conv3DOp op);

} // namespace tilewright
