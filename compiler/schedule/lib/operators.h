// Where the operators of the model went that no layer is named after.
//
// 1. An operator is part of the groups in whose locations it stands.
// 2. One that stands in none, and whose every operand is constant, became a constant.
// 3. Else others have absorbed it: those that read it where it only moves elements, else those that
// it reads; where there are none on one side, those on the other.
#pragma once

#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/program/program.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace tilewright {

// `layers` are the groups', in their order. In a module that does not say what operators it was
// made from (model_operators.h), those are told that stand in locations.
std::vector<LayerInfo> absorbedOperators(mlir::ModuleOp module,
                                         llvm::ArrayRef<kernel::GroupOp> groups,
                                         llvm::ArrayRef<LayerInfo> layers);

} // namespace tilewright
