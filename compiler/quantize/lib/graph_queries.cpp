#include "graph_queries.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "tilewright/compiler/frontend.h"

#include <cstring>
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

static ElementsAttr constantAttribute(Value value) {
  auto constant = value.getDefiningOp<tosa::ConstOp>();
  return constant ? constant.getValues() : nullptr;
}

std::optional<std::vector<double>> constantReals(Value value) {
  ElementsAttr attribute = constantAttribute(value);
  if (!attribute || !attribute.getElementType().isF32())
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    ArrayRef<char> data = resource.getData();
    std::vector<float> floats(data.size() / sizeof(float));
    std::memcpy(floats.data(), data.data(), floats.size() * sizeof(float));
    return std::vector<double>(floats.begin(), floats.end());
  }
  auto values = cast<DenseElementsAttr>(attribute).getValues<float>();
  return std::vector<double>(values.begin(), values.end());
}

std::optional<double> constantScalar(Value value) {
  ElementsAttr attribute = constantAttribute(value);
  if (!attribute || !attribute.getElementType().isF32() || attribute.getNumElements() == 0)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    return dense.isSplat() ? std::optional<double>(dense.getSplatValue<float>()) : std::nullopt;
  std::vector<double> elements = *constantReals(value);
  for (double element : elements)
    if (element != elements[0])
      return std::nullopt;
  return elements[0];
}

bool variesAlongLastOnly(ArrayRef<int64_t> shape) {
  return shape.empty() || llvm::all_of(shape.drop_back(), [](int64_t size) { return size == 1; });
}

Place placeOf(Operation *op) {
  Place place;
  Layer layer = layerOf(op->getLoc());
  if (!layer.name.empty() || !layer.op.empty()) {
    place.subject = fmt::format("node '{}' ({})", escape(layer.name), escape(layer.op));
  } else if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
    place.file = file.getFilename().str();
    place.line = static_cast<int>(file.getLine());
    place.column = static_cast<int>(file.getColumn());
  }
  return place;
}

} // namespace tilewright::quantization
