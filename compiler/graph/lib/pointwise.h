// What the layout rewrites know of element-wise ops.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright {

// The number of leading operands of an element-wise op that are its data (the others are
// parameters, such as a shift); 0 for ops that are not element-wise. All data operands have the
// result's rank and broadcast.
unsigned pointwiseOperands(mlir::Operation *op);

} // namespace tilewright
