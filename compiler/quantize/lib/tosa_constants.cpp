#include "tosa_constants.h"

#include "graph_queries.h"

using namespace mlir;

namespace tilewright::quantization {

Value floatConstant(OpBuilder &builder, Location location, ArrayRef<int64_t> shape,
                    const std::vector<double> &values) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  std::vector<float> floats(values.begin(), values.end());
  return tosa::ConstOp::create(builder, location, type,
                               DenseElementsAttr::get(type, ArrayRef<float>(floats)));
}

Value integerConstant(OpBuilder &builder, Location location, ArrayRef<int64_t> shape, int bits,
                      const std::vector<int64_t> &values) {
  auto type = RankedTensorType::get(shape, builder.getIntegerType(bits));
  SmallVector<APInt> integers;
  for (int64_t value : values)
    integers.push_back(APInt(bits, static_cast<uint64_t>(value), /*isSigned=*/true));
  return tosa::ConstOp::create(builder, location, type, DenseElementsAttr::get(type, integers));
}

Value shapeConstant(OpBuilder &builder, Location location, ArrayRef<int64_t> shape) {
  return tosa::ConstShapeOp::create(
      builder, location, tosa::shapeType::get(builder.getContext(), static_cast<int>(shape.size())),
      builder.getIndexTensorAttr(shape));
}

Value reshape(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> shape) {
  if (tensorType(value).getShape() == shape)
    return value;
  auto type = RankedTensorType::get(shape, tensorType(value).getElementType());
  return tosa::ReshapeOp::create(builder, location, type, value,
                                 shapeConstant(builder, location, shape));
}

} // namespace tilewright::quantization
