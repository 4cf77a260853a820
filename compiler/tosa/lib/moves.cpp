#include "tilewright/compiler/tosa/moves.h"

#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/shape.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <numeric>

namespace tilewright {

namespace tosa = mlir::tosa;
using mlir::Value;

static mlir::RankedTensorType typeLike(Value value, llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, elementOf(value));
}

Value makePad(mlir::OpBuilder &builder, mlir::Location location, Value value,
              llvm::ArrayRef<int64_t> padding, Value fill) {
  Shape shape = sizesOf(value);
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] += padding[2 * i] + padding[2 * i + 1];
  if (shapeOf(value) == llvm::ArrayRef(shape))
    return value;
  return tosa::PadOp::create(builder, location, typeLike(value, shape), value,
                             makeShape(builder, location, padding), fill);
}

Value makeConcat(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<Value> parts,
                 int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Shape shape = sizesOf(parts.front());
  for (Value part : parts.drop_front())
    shape[axis] += shapeOf(part)[axis];
  return tosa::ConcatOp::create(builder, location, typeLike(parts.front(), shape), parts,
                                builder.getI32IntegerAttr(static_cast<int32_t>(axis)));
}

// tosa.gather takes values [N, K, C] and indices [N, W]: the dimensions before the axis are N,
// those behind it C.
Value makeGatherOfAxis(mlir::OpBuilder &builder, mlir::Location location, Value value, int64_t axis,
                       llvm::ArrayRef<int64_t> indices) {
  Shape shape = sizesOf(value);
  const auto count = static_cast<int64_t>(indices.size());
  llvm::SmallVector<int64_t> inPlace(shape[axis]);
  std::iota(inPlace.begin(), inPlace.end(), 0);
  if (indices == llvm::ArrayRef(inPlace))
    return value;
  const auto dims = llvm::ArrayRef<int64_t>(shape);
  const int64_t outer = elementCount(dims.take_front(axis)),
                inner = elementCount(dims.drop_front(axis + 1));
  llvm::SmallVector<int64_t> all;
  for (int64_t n = 0; n < outer; ++n)
    all.append(indices.begin(), indices.end());
  Value gathered =
      tosa::GatherOp::create(builder, location, typeLike(value, {outer, count, inner}),
                             makeReshape(builder, location, value, {outer, shape[axis], inner}),
                             makeIntegers(builder, location, {outer, count}, 32, all));
  shape[axis] = count;
  return makeReshape(builder, location, gathered, shape);
}

} // namespace tilewright
