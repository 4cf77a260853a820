#include "constants.h"

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

DenseElementsAttr constantElements(Value value) {
  auto constant = value.getDefiningOp<tosa::ConstOp>();
  return constant ? dyn_cast<DenseElementsAttr>(constant.getValues()) : nullptr;
}

// Of the type of `Int`, which MLIR reads much faster than integers of any width.
template <typename Int> static bool append(DenseElementsAttr elements, SmallVector<int64_t> &out) {
  if (!elements.getElementType().isSignlessInteger(8 * sizeof(Int)))
    return false;
  llvm::append_range(out, elements.getValues<Int>());
  return true;
}

static SmallVector<int64_t> integers(DenseElementsAttr elements) {
  bool isBool = elements.getElementType().isInteger(1);
  SmallVector<int64_t> out;
  out.reserve(elements.getNumElements());
  if (append<int8_t>(elements, out) || append<int32_t>(elements, out))
    return out;
  for (const APInt &value : elements.getValues<APInt>())
    out.push_back(isBool ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue());
  return out;
}

std::optional<SmallVector<int64_t>> constantIntegers(Value value) {
  if (auto shape = value.getDefiningOp<tosa::ConstShapeOp>())
    return integers(cast<DenseElementsAttr>(shape.getValues()));
  DenseElementsAttr elements = constantElements(value);
  if (!elements || !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  return integers(elements);
}

template <typename T>
static DenseElementsAttr packAs(RankedTensorType type, ArrayRef<int64_t> values) {
  SmallVector<T> elements(
      llvm::map_range(values, [](int64_t value) { return static_cast<T>(value); }));
  return DenseElementsAttr::get(type, ArrayRef<T>(elements));
}

// `values` as elements of `type`, truncated to its width.
static DenseElementsAttr pack(RankedTensorType type, ArrayRef<int64_t> values) {
  switch (type.getElementType().getIntOrFloatBitWidth()) {
  case 1:
    return packAs<bool>(type, values);
  case 8:
    return packAs<int8_t>(type, values);
  case 16:
    return packAs<int16_t>(type, values);
  default:
    return packAs<int32_t>(type, values);
  }
}

Value createConstant(OpBuilder &builder, Location location, RankedTensorType type,
                     ArrayRef<int64_t> values) {
  return tosa::ConstOp::create(builder, location, type, pack(type, values));
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
  return pack(type, out);
}

} // namespace tilewright
