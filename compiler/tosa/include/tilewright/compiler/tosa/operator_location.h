// Where a diagnostic on an op stands.
#pragma once

#include "tilewright/support/error.h"

#include "mlir/IR/Location.h"

namespace tilewright {

// The user's operator behind `location`, and its line where the model is a text.
SourceLocation operatorLocation(mlir::Location location);

} // namespace tilewright
