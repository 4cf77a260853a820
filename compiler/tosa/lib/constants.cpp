#include "tilewright/compiler/tosa/constants.h"

#include "tilewright/compiler/tosa/constant_floats.h"
#include "tilewright/compiler/tosa/tensor_types.h"

using namespace mlir;

namespace tilewright {

DenseElementsAttr constantElements(Value value) {
  if (auto constant = value.getDefiningOp<tosa::ConstOp>())
    return dyn_cast<DenseElementsAttr>(constant.getValues());
  if (auto shape = value.getDefiningOp<tosa::ConstShapeOp>())
    return dyn_cast<DenseElementsAttr>(shape.getValues());
  return {};
}

// Of the type of `Int`, which MLIR reads much faster than integers of any width.
template <typename Int> static bool append(DenseElementsAttr elements, SmallVector<int64_t> &out) {
  if (!elements.getElementType().isSignlessInteger(8 * sizeof(Int)))
    return false;
  llvm::append_range(out, elements.getValues<Int>());
  return true;
}

std::optional<SmallVector<int64_t>> constantIntegers(Value value) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(constantElements(value));
  if (!elements)
    return std::nullopt;
  SmallVector<int64_t> out;
  out.reserve(elements.getNumElements());
  if (append<int8_t>(elements, out) || append<int32_t>(elements, out))
    return out;
  const bool isBool = elements.getElementType().isInteger(1);
  for (const APInt &element : elements)
    out.push_back(isBool ? static_cast<int64_t>(element.getZExtValue()) : element.getSExtValue());
  return out;
}

std::optional<std::vector<float>> constantFloats(Value value) {
  std::optional<ConstantFloats> floats = ConstantFloats::of(value);
  return floats ? std::optional(floats->elements().vec()) : std::nullopt;
}

std::optional<float> splatFloat(Value value) {
  if (DenseElementsAttr elements = constantElements(value)) {
    const bool isSplat = elements.getElementType().isF32() && elements.isSplat();
    return isSplat ? std::optional(elements.getSplatValue<float>()) : std::nullopt;
  }
  std::optional<ConstantFloats> floats = ConstantFloats::of(value);
  return floats && llvm::all_equal(floats->elements()) ? std::optional((*floats)[0]) : std::nullopt;
}

template <typename T>
static DenseElementsAttr packAs(RankedTensorType type, ArrayRef<int64_t> values) {
  SmallVector<T> elements(
      llvm::map_range(values, [](int64_t value) { return static_cast<T>(value); }));
  return DenseElementsAttr::get(type, ArrayRef<T>(elements));
}

DenseElementsAttr integerElements(RankedTensorType type, ArrayRef<int64_t> values) {
  const unsigned bits = type.getElementTypeBitWidth();
  switch (bits) {
  case 1:
    return packAs<bool>(type, values);
  case 8:
    return packAs<int8_t>(type, values);
  case 16:
    return packAs<int16_t>(type, values);
  case 32:
    return packAs<int32_t>(type, values);
  default:
    return DenseElementsAttr::get(type, llvm::map_to_vector(values, [=](int64_t value) {
                                    return APInt(bits, static_cast<uint64_t>(value),
                                                 /*isSigned=*/true);
                                  }));
  }
}

Value makeConstant(OpBuilder &builder, Location location, DenseElementsAttr elements) {
  return tosa::ConstOp::create(builder, location, elements.getType(), elements);
}

Value makeFloats(OpBuilder &builder, Location location, ArrayRef<int64_t> shape,
                 ArrayRef<float> values) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return makeConstant(builder, location, DenseElementsAttr::get(type, values));
}

Value makeFloats(OpBuilder &builder, Location location, ArrayRef<int64_t> shape,
                 const std::vector<double> &values) {
  return makeFloats(builder, location, shape, std::vector<float>(values.begin(), values.end()));
}

Value makeIntegers(OpBuilder &builder, Location location, ArrayRef<int64_t> shape, int bits,
                   ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(shape, builder.getIntegerType(bits));
  return makeConstant(builder, location, integerElements(type, values));
}

Value makeShape(OpBuilder &builder, Location location, ArrayRef<int64_t> shape) {
  auto type = tosa::shapeType::get(builder.getContext(), static_cast<int>(shape.size()));
  return tosa::ConstShapeOp::create(builder, location, type, builder.getIndexTensorAttr(shape));
}

Value makeReshape(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape)
    return value;
  return tosa::ReshapeOp::create(builder, location, type.clone(shape), value,
                                 makeShape(builder, location, shape));
}

Value makeTranspose(OpBuilder &builder, Location location, Value value,
                    ArrayRef<int32_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  SmallVector<int64_t> shape;
  for (int32_t from : permutation)
    shape.push_back(shapeOf(value)[from]);
  return tosa::TransposeOp::create(builder, location, tensorType(value).clone(shape), value,
                                   permutation);
}

Value makeSlice(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> start,
                ArrayRef<int64_t> size) {
  if (shapeOf(value) == size)
    return value;
  return tosa::SliceOp::create(builder, location, tensorType(value).clone(size), value,
                               makeShape(builder, location, start),
                               makeShape(builder, location, size));
}

Value makeSliceOfAxis(OpBuilder &builder, Location location, Value value, int64_t axis,
                      int64_t start, int64_t size) {
  SmallVector<int64_t> starts(shapeOf(value).size(), 0), sizes(shapeOf(value));
  starts[axis] = start;
  sizes[axis] = size;
  return makeSlice(builder, location, value, starts, sizes);
}

} // namespace tilewright
