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

template <typename Integer>
static DenseElementsAttr narrowElements(RankedTensorType type, const std::vector<int64_t> &values) {
  std::vector<Integer> integers(values.begin(), values.end());
  return DenseElementsAttr::get(type, ArrayRef<Integer>(integers));
}

static DenseElementsAttr wideElements(RankedTensorType type, const std::vector<int64_t> &values) {
  SmallVector<APInt> integers;
  for (int64_t value : values)
    integers.push_back(APInt(type.getElementTypeBitWidth(), static_cast<uint64_t>(value),
                             /*isSigned=*/true));
  return DenseElementsAttr::get(type, integers);
}

Value integerConstant(OpBuilder &builder, Location location, ArrayRef<int64_t> shape, int bits,
                      const std::vector<int64_t> &values) {
  auto type = RankedTensorType::get(shape, builder.getIntegerType(bits));
  auto attribute = [&]() -> DenseElementsAttr {
    switch (bits) {
    case 8:
      return narrowElements<int8_t>(type, values);
    case 16:
      return narrowElements<int16_t>(type, values);
    case 32:
      return narrowElements<int32_t>(type, values);
    default:
      return wideElements(type, values);
    }
  };
  return tosa::ConstOp::create(builder, location, type, attribute());
}

Value integerConstant(OpBuilder &builder, Location location, ArrayRef<int64_t> shape,
                      ArrayRef<int8_t> values) {
  auto type = RankedTensorType::get(shape, builder.getIntegerType(8));
  return tosa::ConstOp::create(builder, location, type, DenseElementsAttr::get(type, values));
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
