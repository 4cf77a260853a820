#include "graph_queries.h"

#include "tilewright/compiler/tosa/constant_floats.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tilewright/compiler/tosa/operator_location.h"

#include <fmt/format.h>

using namespace mlir;

namespace tilewright::quantization {

func::FuncOp mainOf(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration() || !main.getBody().hasOneBlock())
    throw std::logic_error("the model has no function @main of one block");
  return main;
}

bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

std::optional<std::vector<double>> constantReals(Value value) {
  std::optional<ConstantFloats> floats = ConstantFloats::of(value);
  if (!floats)
    return std::nullopt;
  ArrayRef<float> elements = floats->elements();
  return std::vector<double>(elements.begin(), elements.end());
}

bool variesAlongLastOnly(ArrayRef<int64_t> shape) {
  return shape.empty() || llvm::all_of(shape.drop_back(), [](int64_t size) { return size == 1; });
}

SourceLocation sourceLocationOf(Operation *op) { return operatorLocation(op->getLoc()); }

} // namespace tilewright::quantization
