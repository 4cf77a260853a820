// TOSA 1.0's ERROR_IF conditions that MLIR 22 does not check, neither in its verifier nor in
// tosa-validate.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tilewright {

// Throws UserError at the first op of @main that breaks one.
void checkSemantics(mlir::ModuleOp module, const std::string &path);

} // namespace tilewright
