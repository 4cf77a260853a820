// Shapes of values.
#pragma once

#include "tilewright/support/shape.h"

#include "mlir/IR/Value.h"

namespace tilewright {

Shape sizesOf(mlir::Value value); // of a ranked tensor

} // namespace tilewright
