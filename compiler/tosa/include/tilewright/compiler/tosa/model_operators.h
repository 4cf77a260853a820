// The operators of the model as its author wrote it, and which reads which: an attribute of the
// module, so that a report can say of each of them where it went, whatever passes make of the
// graph.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tilewright {

struct ModelOperator {
  std::string name, op;       // as layerOf gives them
  std::vector<int64_t> reads; // numbers of operators; modelInput: an input of the model
  bool isNeeded = true;       // some output of the model depends on it
  bool isConstant = false;    // what it gives was known at import, whatever it reads
};
constexpr int64_t modelInput = -1;

void setModelOperators(mlir::ModuleOp module, const std::vector<ModelOperator> &operators);
// In the model's order; empty where the module has no such attribute, or one that is damaged.
std::vector<ModelOperator> modelOperators(mlir::ModuleOp module);
// Takes the attribute over from another module, or away.
void copyModelOperators(mlir::ModuleOp from, mlir::ModuleOp to);
void dropModelOperators(mlir::ModuleOp module);

} // namespace tilewright
