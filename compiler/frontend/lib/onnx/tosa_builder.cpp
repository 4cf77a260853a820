#include "tosa_builder.h"

#include "size_limits.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::onnx_import {

namespace tosa = mlir::tosa;

int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

Shape shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape().vec();
}

std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) { // from the last dimension to the first
    int64_t dimA = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t dimB = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (dimA != dimB && dimA != 1 && dimB != 1)
      return std::nullopt;
    shape[shape.size() - 1 - i] = dimA == 1 ? dimB : dimA;
  }
  return shape;
}

void TosaBuilder::at(mlir::Location location, Place place) {
  location_ = location;
  place_ = std::move(place);
}

void TosaBuilder::fail(const std::string &message, const std::string &fix) const {
  throw UserError(place_, message, fix);
}

mlir::RankedTensorType TosaBuilder::type(llvm::ArrayRef<int64_t> shape, mlir::Type element) const {
  if (shape.size() > maxRank)
    fail(fmt::format("a tensor of {} dimensions arises; at most {} are supported", shape.size(),
                     maxRank));
  int64_t size = 4;
  for (int64_t dim : shape) {
    if (dim < 1)
      fail(fmt::format("an empty tensor arises, of shape {}", formatShape(shape)));
    if (size > maxTensorBytes / dim)
      fail(fmt::format("a tensor of shape {} arises, which is larger than {} bytes",
                       formatShape(shape), maxTensorBytes));
    size *= dim;
  }
  return mlir::RankedTensorType::get(shape, element);
}

mlir::RankedTensorType TosaBuilder::floatType(llvm::ArrayRef<int64_t> shape) const {
  return type(shape, builder_.getF32Type());
}

mlir::Value TosaBuilder::constant(const Tensor &tensor) {
  assert(tensor.dtype == DType::F32);
  return constant(tensor.shape, llvm::ArrayRef(tensor.data<float>(), tensor.bytes.size() / 4));
}

mlir::Value TosaBuilder::constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
  if (values.size() == 1 && !std::isfinite(values[0]))
    fail(fmt::format("it computes with {}; only finite numbers are supported", values[0]));
  auto attribute = mlir::DenseElementsAttr::get(floatType(shape), values);
  return tosa::ConstOp::create(builder_, location_, attribute.getType(), attribute);
}

mlir::Value TosaBuilder::splat(llvm::ArrayRef<int64_t> shape, float value) {
  return constant(shape, value);
}

mlir::Value TosaBuilder::scalarLike(mlir::Value value, float scalar) {
  return splat(Shape(shapeOf(value).size(), 1), scalar);
}

mlir::Value TosaBuilder::scalarConstant(float value) { return splat({1}, value); }

mlir::Value TosaBuilder::constShape(llvm::ArrayRef<int64_t> dims) {
  auto type = tosa::shapeType::get(builder_.getContext(), static_cast<int>(dims.size()));
  return tosa::ConstShapeOp::create(builder_, location_, type, builder_.getIndexTensorAttr(dims));
}

Shape TosaBuilder::broadcastRanks(mlir::Value &a, mlir::Value &b) {
  Shape shapeA = shapeOf(a), shapeB = shapeOf(b);
  std::optional<Shape> shape = broadcastShapes(shapeA, shapeB);
  if (!shape)
    fail(fmt::format("shapes {} and {} do not fit each other", formatShape(shapeA),
                     formatShape(shapeB)));
  auto raise = [&](mlir::Value value, Shape from) {
    from.insert(from.begin(), shape->size() - from.size(), 1);
    return reshape(value, from);
  };
  a = raise(a, shapeA);
  b = raise(b, shapeB);
  return *shape;
}

mlir::Value TosaBuilder::multiply(mlir::Value a, mlir::Value b) {
  Shape shape = broadcastRanks(a, b);
  auto shiftType = mlir::RankedTensorType::get({1}, builder_.getI8Type());
  mlir::Value shift = tosa::ConstOp::create(builder_, location_, shiftType,
                                            mlir::DenseElementsAttr::get(shiftType, int8_t(0)));
  return tosa::MulOp::create(builder_, location_, floatType(shape), a, b, shift);
}

mlir::Value TosaBuilder::clamp(mlir::Value a, float low, float high) {
  auto propagate =
      tosa::NanPropagationModeAttr::get(builder_.getContext(), tosa::NanPropagationMode::PROPAGATE);
  return tosa::ClampOp::create(builder_, location_, a.getType(), a, builder_.getF32FloatAttr(low),
                               builder_.getF32FloatAttr(high), propagate);
}

mlir::Value TosaBuilder::select(mlir::Value condition, mlir::Value a, mlir::Value b) {
  Shape branches = broadcastRanks(a, b);
  broadcastRanks(condition, a);
  broadcastRanks(condition, b);
  std::optional<Shape> all = broadcastShapes(branches, shapeOf(condition));
  if (!all)
    fail(fmt::format("shapes {} and {} do not fit each other", formatShape(branches),
                     formatShape(shapeOf(condition))));
  return tosa::SelectOp::create(builder_, location_, type(*all, mlir::getElementTypeOrSelf(a)),
                                condition, a, b);
}

mlir::Value TosaBuilder::castToFloat(mlir::Value a) {
  return tosa::CastOp::create(builder_, location_, floatType(shapeOf(a)), a);
}

mlir::Value TosaBuilder::broadcastTo(mlir::Value a, llvm::ArrayRef<int64_t> shape) {
  Shape from = shapeOf(a);
  from.insert(from.begin(), shape.size() - from.size(), 1);
  Shape multiples(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    multiples[i] = from[i] == shape[i] ? 1 : shape[i];
  return tile(reshape(a, from), multiples);
}

mlir::Value TosaBuilder::reshape(mlir::Value a, llvm::ArrayRef<int64_t> shape) {
  if (llvm::ArrayRef<int64_t>(shapeOf(a)) == shape)
    return a;
  mlir::RankedTensorType result = type(shape, mlir::getElementTypeOrSelf(a));
  // A constant in another shape is another constant.
  mlir::DenseElementsAttr attribute;
  if (auto constant = a.getDefiningOp<tosa::ConstOp>())
    attribute = llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValues());
  if (attribute)
    return tosa::ConstOp::create(builder_, location_, result, attribute.reshape(result));
  return tosa::ReshapeOp::create(builder_, location_, result, a, constShape(shape));
}

mlir::Value TosaBuilder::transpose(mlir::Value a, llvm::ArrayRef<int32_t> permutation) {
  Shape from = shapeOf(a), shape(from.size());
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = from[permutation[i]];
  if (llvm::is_sorted(permutation))
    return a;
  return tosa::TransposeOp::create(builder_, location_, type(shape, mlir::getElementTypeOrSelf(a)),
                                   a, builder_.getDenseI32ArrayAttr(permutation));
}

mlir::Value TosaBuilder::slice(mlir::Value a, llvm::ArrayRef<int64_t> start,
                               llvm::ArrayRef<int64_t> size) {
  if (llvm::ArrayRef<int64_t>(shapeOf(a)) == size)
    return a;
  return tosa::SliceOp::create(builder_, location_, type(size, mlir::getElementTypeOrSelf(a)), a,
                               constShape(start), constShape(size));
}

mlir::Value TosaBuilder::sliceAxis(mlir::Value a, int64_t axis, int64_t start, int64_t size) {
  Shape sizes = shapeOf(a), starts(sizes.size(), 0);
  sizes[axis] = size;
  starts[axis] = start;
  return slice(a, starts, sizes);
}

mlir::Value TosaBuilder::pad(mlir::Value a, llvm::ArrayRef<int64_t> before,
                             llvm::ArrayRef<int64_t> after, float value) {
  Shape shape = shapeOf(a), padding;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (before[i] > maxTensorBytes || after[i] > maxTensorBytes)
      fail(fmt::format("padding {}, {} is too large", before[i], after[i]));
    shape[i] += before[i] + after[i];
    padding.push_back(before[i]);
    padding.push_back(after[i]);
  }
  if (shape == shapeOf(a))
    return a;
  return tosa::PadOp::create(builder_, location_, floatType(shape), a, constShape(padding),
                             scalarConstant(value));
}

mlir::Value TosaBuilder::concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Shape shape = shapeOf(parts.front());
  int64_t length = 0;
  for (mlir::Value part : parts) {
    Shape expected = shapeOf(part);
    if (expected.size() == shape.size()) {
      length += expected[axis];
      expected[axis] = shape[axis];
    }
    if (expected != shape)
      fail(fmt::format("shapes {} and {} cannot be concatenated along axis {}",
                       formatShape(shapeOf(parts.front())), formatShape(shapeOf(part)), axis));
  }
  shape[axis] = length;
  return tosa::ConcatOp::create(builder_, location_,
                                type(shape, mlir::getElementTypeOrSelf(parts.front())), parts,
                                builder_.getI32IntegerAttr(static_cast<int32_t>(axis)));
}

mlir::Value TosaBuilder::reverse(mlir::Value a, int64_t axis) {
  return tosa::ReverseOp::create(builder_, location_, a.getType(), a,
                                 builder_.getI32IntegerAttr(static_cast<int32_t>(axis)));
}

mlir::Value TosaBuilder::tile(mlir::Value a, llvm::ArrayRef<int64_t> multiples) {
  Shape shape = shapeOf(a);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (multiples[i] > maxTensorBytes / shape[i])
      fail(fmt::format("repeating a dimension {} times is too much", multiples[i]));
    shape[i] *= multiples[i];
  }
  if (shape == shapeOf(a))
    return a;
  return tosa::TileOp::create(builder_, location_, type(shape, mlir::getElementTypeOrSelf(a)), a,
                              constShape(multiples));
}

mlir::Value TosaBuilder::gatherAxis(mlir::Value a, int64_t axis, llvm::ArrayRef<int32_t> indices) {
  // tosa.gather takes values [N, K, C] and indices [N, W]: the dimensions before the axis are N,
  // those behind it C.
  Shape shape = shapeOf(a);
  auto dims = llvm::ArrayRef<int64_t>(shape);
  int64_t outer = elementCount(dims.take_front(axis));
  int64_t inner = elementCount(dims.drop_front(axis + 1));
  auto count = static_cast<int64_t>(indices.size());
  if (outer * count > maxFoldBytes / 4)
    fail(fmt::format("gathering along axis {} of a tensor of shape {} needs too many indices", axis,
                     formatShape(shape)));
  mlir::Value values = reshape(a, {outer, shape[axis], inner});
  auto indexType = type({outer, count}, builder_.getI32Type());
  std::vector<int32_t> all;
  for (int64_t n = 0; n < outer; ++n)
    all.insert(all.end(), indices.begin(), indices.end());
  mlir::Value index = tosa::ConstOp::create(
      builder_, location_, indexType, mlir::DenseElementsAttr::get(indexType, llvm::ArrayRef(all)));
  mlir::Value gathered = tosa::GatherOp::create(
      builder_, location_, type({outer, count, inner}, mlir::getElementTypeOrSelf(a)), values,
      index);
  shape[axis] = count;
  return reshape(gathered, shape);
}

void TosaBuilder::checkWindow(const Window &window) const {
  for (int i : {0, 1}) {
    if ((window.kernel[i] - 1) * window.dilation[i] + 1 > maxKernel ||
        window.padBegin[i] > maxKernel || window.padEnd[i] > maxKernel)
      fail(fmt::format("windows and pads above {} are not supported", maxKernel));
    if (window.stride[i] > maxStride)
      fail(fmt::format("strides above {} are not supported", maxStride));
  }
}

mlir::DenseI64ArrayAttr TosaBuilder::pads(const Window &window) {
  return builder_.getDenseI64ArrayAttr(
      {window.padBegin[0], window.padEnd[0], window.padBegin[1], window.padEnd[1]});
}

mlir::DenseI64ArrayAttr TosaBuilder::pair(const std::array<int64_t, 2> &values) {
  return builder_.getDenseI64ArrayAttr(values);
}

mlir::Value TosaBuilder::cropped(mlir::Value input, const Window &window) {
  Shape size = shapeOf(input);
  size[1] -= window.crop[0];
  size[2] -= window.crop[1];
  return slice(input, Shape(4, 0), size);
}

mlir::Value TosaBuilder::conv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                                const Window &window) {
  checkWindow(window);
  mlir::Type f32 = builder_.getF32Type();
  auto result =
      floatType({shapeOf(input)[0], window.output[0], window.output[1], shapeOf(weight)[0]});
  return tosa::Conv2DOp::create(builder_, location_, result, cropped(input, window), weight, bias,
                                scalarConstant(0), scalarConstant(0), pads(window),
                                pair(window.stride), pair(window.dilation),
                                mlir::TypeAttr::get(f32), builder_.getBoolAttr(false));
}

mlir::Value TosaBuilder::depthwiseConv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                                         const Window &window) {
  checkWindow(window);
  mlir::Type f32 = builder_.getF32Type();
  Shape kernel = shapeOf(weight); // [KH, KW, C, M]
  auto result =
      floatType({shapeOf(input)[0], window.output[0], window.output[1], kernel[2] * kernel[3]});
  return tosa::DepthwiseConv2DOp::create(builder_, location_, result, cropped(input, window),
                                         weight, bias, scalarConstant(0), scalarConstant(0),
                                         pads(window), pair(window.stride), pair(window.dilation),
                                         mlir::TypeAttr::get(f32), builder_.getBoolAttr(false));
}

mlir::Value TosaBuilder::transposeConv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                                         llvm::ArrayRef<int64_t> outPad,
                                         llvm::ArrayRef<int64_t> stride) {
  Shape in = shapeOf(input), kernel = shapeOf(weight); // [OC, KH, KW, IC]
  Shape out = {in[0], (in[1] - 1) * stride[0] + outPad[0] + outPad[1] + kernel[1],
               (in[2] - 1) * stride[1] + outPad[2] + outPad[3] + kernel[2], kernel[0]};
  for (int i : {0, 1})
    if (outPad[2 * i] <= -kernel[1 + i] || outPad[2 * i + 1] <= -kernel[1 + i] || out[1 + i] < 1)
      fail("pads are not smaller than the kernel");
  return tosa::TransposeConv2DOp::create(
      builder_, location_, floatType(out), input, weight, bias, scalarConstant(0),
      scalarConstant(0), builder_.getDenseI64ArrayAttr(outPad),
      builder_.getDenseI64ArrayAttr(stride), mlir::TypeAttr::get(builder_.getF32Type()),
      builder_.getBoolAttr(false));
}

mlir::Value TosaBuilder::averagePool2d(mlir::Value input, const Window &window) {
  checkWindow(window);
  Shape shape = shapeOf(input);
  auto result = floatType({shape[0], window.output[0], window.output[1], shape[3]});
  return tosa::AvgPool2dOp::create(builder_, location_, result, cropped(input, window),
                                   scalarConstant(0), scalarConstant(0), pair(window.kernel),
                                   pair(window.stride), pads(window),
                                   mlir::TypeAttr::get(builder_.getF32Type()));
}

mlir::Value TosaBuilder::maxPool2d(mlir::Value input, const Window &window) {
  checkWindow(window);
  Shape shape = shapeOf(input);
  auto result = floatType({shape[0], window.output[0], window.output[1], shape[3]});
  auto propagate =
      tosa::NanPropagationModeAttr::get(builder_.getContext(), tosa::NanPropagationMode::PROPAGATE);
  return tosa::MaxPool2dOp::create(builder_, location_, result, cropped(input, window),
                                   pair(window.kernel), pair(window.stride), pads(window),
                                   propagate);
}

mlir::Value TosaBuilder::resize(mlir::Value input, llvm::ArrayRef<int64_t> outputSize,
                                llvm::ArrayRef<int64_t> scale, llvm::ArrayRef<int64_t> offset,
                                llvm::ArrayRef<int64_t> border, bool bilinear) {
  Shape shape = shapeOf(input);
  auto mode = tosa::ResizeModeAttr::get(builder_.getContext(),
                                        bilinear ? tosa::ResizeMode::BILINEAR
                                                 : tosa::ResizeMode::NEAREST_NEIGHBOR);
  return tosa::ResizeOp::create(
      builder_, location_, floatType({shape[0], outputSize[0], outputSize[1], shape[3]}), input,
      constShape(scale), constShape(offset), constShape(border), mode);
}

mlir::Value TosaBuilder::matmul(mlir::Value a, mlir::Value b) {
  Shape shapeA = shapeOf(a), shapeB = shapeOf(b);
  if (shapeA[2] != shapeB[1])
    fail(fmt::format("matrices of {}x{} and {}x{} do not fit each other", shapeA[1], shapeA[2],
                     shapeB[1], shapeB[2]));
  return tosa::MatMulOp::create(builder_, location_, floatType({shapeA[0], shapeA[1], shapeB[2]}),
                                a, b, scalarConstant(0), scalarConstant(0));
}

} // namespace tilewright::onnx_import
