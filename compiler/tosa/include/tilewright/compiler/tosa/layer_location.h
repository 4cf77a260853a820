// How the names of the model's operators travel: as locations of ops.
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace tilewright {

// The location of an op that implements the user's operator `name` of kind `op` ("Conv"):
// NameLoc(name, child NameLoc(op)).
mlir::Location layerLocation(mlir::MLIRContext &context, llvm::StringRef name, llvm::StringRef op);

// The user's operator behind a location (the first one of a fused location); {"", ""} when there is
// none.
struct Layer {
  std::string name;
  std::string op;
};
Layer layerOf(mlir::Location location);

// The location of an op that does the work of two; the first one's layer counts. Sequences of
// merges keep the first few.
mlir::Location fusedLocation(mlir::Location first, mlir::Location second);

// What brings a tensor into another order, which the model does not ask for, stands at the name of
// the operator behind `location`, of kind "layout", so that a report tells its work from the
// operator's own. A location of no operator stays.
mlir::Location layoutLocation(mlir::Location location);
bool isLayout(mlir::Location location);

} // namespace tilewright
