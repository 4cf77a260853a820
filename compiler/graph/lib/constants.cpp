#include "constants.h"

namespace tilewright {

namespace tosa = mlir::tosa;

Dims dimsOf(mlir::Value value) {
  return Dims(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape());
}

bool isFloat32(mlir::Value value) { return mlir::getElementTypeOrSelf(value).isF32(); }

mlir::DenseElementsAttr constantOf(mlir::Value value) {
  if (auto constant = value.getDefiningOp<tosa::ConstOp>())
    return llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValues());
  if (auto shape = value.getDefiningOp<tosa::ConstShapeOp>())
    return llvm::dyn_cast<mlir::DenseElementsAttr>(shape.getValues());
  return {};
}

std::optional<Dims> constantInts(mlir::Value value) {
  auto elements = llvm::dyn_cast_or_null<mlir::DenseIntElementsAttr>(constantOf(value));
  if (!elements)
    return std::nullopt;
  Dims values;
  for (const llvm::APInt &element : elements)
    values.push_back(element.getSExtValue());
  return values;
}

std::optional<std::vector<float>> constantFloats(mlir::Value value) {
  mlir::DenseElementsAttr elements = constantOf(value);
  if (!elements || !elements.getElementType().isF32())
    return std::nullopt;
  auto values = elements.getValues<float>();
  return std::vector<float>(values.begin(), values.end());
}

std::optional<float> splatFloat(mlir::Value value) {
  mlir::DenseElementsAttr elements = constantOf(value);
  if (!elements || !elements.getElementType().isF32() || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<float>();
}

mlir::Location fusedLocation(mlir::Location first, mlir::Location second) {
  constexpr size_t enough = 8;
  llvm::SmallVector<mlir::Location> parts;
  for (mlir::Location location : {first, second}) {
    if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
      llvm::append_range(parts, fused.getLocations());
    else
      parts.push_back(location);
  }
  if (parts.size() > enough)
    parts.truncate(enough);
  return mlir::FusedLoc::get(parts, {}, first.getContext());
}

mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::DenseElementsAttr elements) {
  return tosa::ConstOp::create(builder, location, elements.getType(), elements);
}

mlir::Value makeFloats(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
  auto type = mlir::RankedTensorType::get(dims, builder.getF32Type());
  return makeConstant(builder, location, mlir::DenseElementsAttr::get(type, values));
}

mlir::Value makeShape(mlir::OpBuilder &builder, mlir::Location location,
                      llvm::ArrayRef<int64_t> dims) {
  auto type = tosa::shapeType::get(builder.getContext(), static_cast<int>(dims.size()));
  return tosa::ConstShapeOp::create(builder, location, type, builder.getIndexTensorAttr(dims));
}

mlir::Value makeReshape(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                        llvm::ArrayRef<int64_t> dims) {
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  if (type.getShape() == dims)
    return value;
  return tosa::ReshapeOp::create(builder, location, type.clone(dims), value,
                                 makeShape(builder, location, dims));
}

mlir::Value makeTranspose(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                          llvm::ArrayRef<int32_t> permutation) {
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  Dims dims;
  for (int32_t from : permutation)
    dims.push_back(type.getDimSize(from));
  if (llvm::is_sorted(permutation))
    return value;
  return tosa::TransposeOp::create(builder, location, type.clone(dims), value, permutation);
}

} // namespace tilewright
