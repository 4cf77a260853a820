// Where what brings a tensor into another order stands, which the model does not ask for.
#pragma once

#include "mlir/IR/Location.h"

namespace tilewright {

// The name of the operator behind `location`, of kind "layout", so that a report tells its work
// from the operator's own. A location of no operator stays.
mlir::Location layoutLocation(mlir::Location location);
bool isLayout(mlir::Location location);

} // namespace tilewright
