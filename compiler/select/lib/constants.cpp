#include "constants.h"

#include "tilewright/compiler/tosa/constants.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tilewright {

constexpr int64_t foldCap = int64_t(16) << 20; // bytes

void makeConstantsDense(Block &body) {
  for (auto constant : body.getOps<tosa::ConstOp>()) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValues());
    if (!resource)
      continue;
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    auto type = cast<RankedTensorType>(constant.getType());
    // A resource holds a byte for each i1, a dense attribute a bit.
    constant.setValuesAttr(
        type.getElementType().isInteger(1)
            ? DenseElementsAttr::get(type, SmallVector<bool>(data.begin(), data.end()))
            : DenseElementsAttr::getFromRawBuffer(type, data));
  }
}

static int64_t bytesOf(ShapedType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

DenseElementsAttr foldAssemble(ValueRange sources, ArrayRef<kernel::Region> regions,
                               std::optional<int64_t> fill, RankedTensorType type) {
  if (bytesOf(type) > foldCap)
    return nullptr;
  for (Value source : sources)
    if (!constantElements(source) || bytesOf(cast<ShapedType>(source.getType())) > foldCap)
      return nullptr;
  SmallVector<SmallVector<int64_t>> data;
  for (Value source : sources)
    data.push_back(*constantIntegers(source));
  std::vector<int64_t> out(type.getNumElements(), fill.value_or(0));
  for (const kernel::Region &region : regions) {
    ArrayRef<int64_t> source = data[region.source];
    SmallVector<int64_t> index(region.sizes.size(), 0);
    int64_t from = region.sourceOffset, to = region.resultOffset;
    // An odometer over the box; from and to follow it.
    for (size_t axis = 0; axis < index.size();) {
      if (axis == 0)
        out[to] = source[from];
      if (++index[axis] < region.sizes[axis]) {
        from += region.sourceStrides[axis];
        to += region.resultStrides[axis];
        axis = 0;
      } else {
        from -= (region.sizes[axis] - 1) * region.sourceStrides[axis];
        to -= (region.sizes[axis] - 1) * region.resultStrides[axis];
        index[axis++] = 0;
      }
    }
  }
  return integerElements(type, out);
}

} // namespace tilewright
