// Operators that only move elements: each becomes one kernel.assemble, or a constant when all that
// moves is constant.
#include "constants.h"
#include "select.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

using namespace mlir;

namespace tilewright {

using kernel::denseStrides;
using kernel::Region;

static int64_t dot(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum += x * y;
  return sum;
}

Selected createAssemble(Location location, Type type, ValueRange sources,
                        std::optional<int64_t> fill, ArrayRef<Region> regions, OpBuilder &builder) {
  SmallVector<Region> merged(llvm::map_range(regions, kernel::coalesce));
  auto tensor = cast<RankedTensorType>(type);
  if (DenseElementsAttr folded = foldAssemble(sources, merged, fill, tensor))
    return tosa::ConstOp::create(builder, location, tensor, folded);
  SmallVector<Attribute> encoded(llvm::map_range(
      merged, [&](const Region &region) { return kernel::encode(builder.getContext(), region); }));
  return kernel::AssembleOp::create(builder, location, type, sources,
                                    fill ? builder.getI64IntegerAttr(*fill) : nullptr,
                                    builder.getArrayAttr(encoded));
}

// A box of `sizes` elements with the strides of both dense tensors.
static Region box(ArrayRef<int64_t> source, ArrayRef<int64_t> result, ArrayRef<int64_t> sizes) {
  Region region;
  region.sizes = llvm::to_vector(sizes);
  region.sourceStrides = denseStrides(source);
  region.resultStrides = denseStrides(result);
  return region;
}

Selected selectPad(tosa::PadOp op, OpBuilder &builder) {
  auto padding = constantIntegers(op.getPadding()), fill = constantIntegers(op.getPadConst());
  if (!padding || !fill)
    return unsupported(op, "its padding or fill value is not constant");
  ArrayRef<int64_t> source = shapeOf(op.getInput1()), result = shapeOf(op.getOutput());
  Region region = box(source, result, source);
  for (size_t axis = 0; axis < source.size(); ++axis)
    region.resultOffset += (*padding)[2 * axis] * region.resultStrides[axis];
  std::optional<int64_t> value;
  if (source != result)
    value = fill->front();
  return createAssemble(op.getLoc(), op.getType(), op.getInput1(), value, region, builder);
}

Selected selectConcat(tosa::ConcatOp op, OpBuilder &builder) {
  ArrayRef<int64_t> result = shapeOf(op.getOutput());
  SmallVector<Region> regions;
  int64_t position = 0;
  for (auto [number, input] : llvm::enumerate(op.getOperands())) {
    Region region = box(shapeOf(input), result, shapeOf(input));
    region.source = static_cast<int64_t>(number);
    region.resultOffset = position * region.resultStrides[op.getAxis()];
    position += region.sizes[op.getAxis()];
    regions.push_back(region);
  }
  return createAssemble(op.getLoc(), op.getType(), op.getOperands(), std::nullopt, regions,
                        builder);
}

Selected selectSlice(tosa::SliceOp op, OpBuilder &builder) {
  // Shapes are constant: operators that compute some have no kernel form.
  SmallVector<int64_t> start = *constantIntegers(op.getStart());
  ArrayRef<int64_t> result = shapeOf(op.getOutput());
  Region region = box(shapeOf(op.getInput1()), result, result);
  region.sourceOffset = dot(start, region.sourceStrides);
  return createAssemble(op.getLoc(), op.getType(), op.getInput1(), std::nullopt, region, builder);
}

Selected selectTranspose(tosa::TransposeOp op, OpBuilder &builder) {
  ArrayRef<int64_t> source = shapeOf(op.getInput1()), result = shapeOf(op.getOutput());
  Region region = box(source, result, result);
  SmallVector<int64_t> strides = region.sourceStrides;
  for (auto [axis, from] : llvm::enumerate(op.getPerms()))
    region.sourceStrides[axis] = strides[from];
  return createAssemble(op.getLoc(), op.getType(), op.getInput1(), std::nullopt, region, builder);
}

// Every axis is copied `multiple` times: two dimensions, the outer one without a step in the
// source.
Selected selectTile(tosa::TileOp op, OpBuilder &builder) {
  ArrayRef<int64_t> source = shapeOf(op.getInput1()), result = shapeOf(op.getOutput());
  SmallVector<int64_t> sourceStrides = denseStrides(source), resultStrides = denseStrides(result);
  Region region;
  for (size_t axis = 0; axis < source.size(); ++axis) {
    region.sizes.append({result[axis] / source[axis], source[axis]});
    region.sourceStrides.append({0, sourceStrides[axis]});
    region.resultStrides.append({source[axis] * resultStrides[axis], resultStrides[axis]});
  }
  return createAssemble(op.getLoc(), op.getType(), op.getInput1(), std::nullopt, region, builder);
}

Selected selectReverse(tosa::ReverseOp op, OpBuilder &builder) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput1());
  Region region = box(shape, shape, shape);
  int64_t &stride = region.sourceStrides[op.getAxis()];
  region.sourceOffset = (shape[op.getAxis()] - 1) * stride;
  stride = -stride;
  return createAssemble(op.getLoc(), op.getType(), op.getInput1(), std::nullopt, region, builder);
}

Selected selectReshape(tosa::ReshapeOp op, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(op.getType());
  if (DenseElementsAttr elements = constantElements(op.getInput1()))
    return tosa::ConstOp::create(builder, op.getLoc(), type, elements.reshape(type));
  return kernel::ViewOp::create(builder, op.getLoc(), type, op.getInput1());
}

Selected createCopy(Value source, Location location, OpBuilder &builder) {
  Region region = box(shapeOf(source), shapeOf(source), shapeOf(source));
  SmallVector<Attribute> regions = {kernel::encode(builder.getContext(), kernel::coalesce(region))};
  return kernel::AssembleOp::create(builder, location, source.getType(), source, nullptr,
                                    builder.getArrayAttr(regions));
}

} // namespace tilewright
