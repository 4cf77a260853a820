#include "tilewright/compiler/tosa/constant_floats.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <memory>

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

ElementsAttr floatAttribute(RankedTensorType type, std::vector<float> values) {
  constexpr size_t many = size_t(1) << 18;
  if (values.size() < many)
    return DenseElementsAttr::get(type, ArrayRef<float>(values));
  auto owned = std::make_unique<std::vector<float>>(std::move(values));
  ArrayRef<char> data(reinterpret_cast<const char *>(owned->data()), owned->size() * sizeof(float));
  auto release = [kept = std::move(owned)](void *, size_t, size_t) mutable { kept.reset(); };
  return DenseResourceElementsAttr::get(
      type, "floats", AsmResourceBlob(data, alignof(float), std::move(release), false));
}

void giveUp(ElementsAttr floats) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(floats))
    resource.getRawHandle().getResource()->setBlob(AsmResourceBlob());
}

} // namespace tilewright
