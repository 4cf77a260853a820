#include "tilewright/compiler/tosa/constant_floats.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tilewright {

static ElementsAttr attributeOf(Value value) {
  auto constant = value.getDefiningOp<tosa::ConstOp>();
  ElementsAttr attribute = constant ? constant.getValues() : nullptr;
  return attribute && attribute.getElementType().isF32() ? attribute : nullptr;
}

bool isConstantFloats(Value value) { return attributeOf(value) != nullptr; }

std::optional<ConstantFloats> ConstantFloats::of(Value value) {
  ElementsAttr attribute = attributeOf(value);
  if (!attribute)
    return std::nullopt;
  ConstantFloats floats;
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (dense && dense.isSplat()) {
    floats.same_.assign(static_cast<size_t>(dense.getNumElements()), dense.getSplatValue<float>());
    return floats;
  }
  ArrayRef<char> bytes =
      dense ? dense.getRawData() : cast<DenseResourceElementsAttr>(attribute).getData();
  floats.stored_ =
      ArrayRef(reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float));
  return floats;
}

} // namespace tilewright
