#include "tilewright/compiler/tosa/float_builder.h"

#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/limits.h"
#include "tilewright/compiler/tosa/moves.h"
#include "tilewright/host/elements.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright {

namespace tosa = mlir::tosa;
using host::integerAt;

void FloatBuilder::at(mlir::Location location, SourceLocation source) {
  location_ = location;
  source_ = std::move(source);
}

void FloatBuilder::fail(const std::string &message, const std::string &fix) const {
  throw UserError(source_, message, fix);
}

void FloatBuilder::failToFit(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) const {
  fail(fmt::format("shapes {} and {} do not fit each other", formatShape(a), formatShape(b)));
}

void FloatBuilder::refuse(const std::string &message) const { throw Unsupported(source_, message); }

mlir::RankedTensorType FloatBuilder::type(llvm::ArrayRef<int64_t> shape, mlir::Type element) const {
  if (shape.size() > maxRank)
    refuse(fmt::format("a tensor of {} dimensions arises; at most {} are supported", shape.size(),
                       maxRank));
  int64_t size = 4;
  for (int64_t dim : shape) {
    if (dim < 1)
      refuse(fmt::format("an empty tensor arises, of shape {}", formatShape(shape)));
    if (size > maxTensorBytes / dim)
      fail(fmt::format("a tensor of shape {} arises, which is larger than {} bytes",
                       formatShape(shape), maxTensorBytes));
    size *= dim;
  }
  return mlir::RankedTensorType::get(shape, element);
}

mlir::RankedTensorType FloatBuilder::floatType(llvm::ArrayRef<int64_t> shape) const {
  return type(shape, builder_.getF32Type());
}

mlir::Value FloatBuilder::constant(const Tensor &tensor) {
  if (tensor.dtype == DType::F32)
    return constant(tensor.shape, llvm::ArrayRef(tensor.data<float>(), tensor.bytes.size() / 4));
  std::vector<int64_t> values(tensor.elements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = integerAt(tensor, static_cast<int64_t>(i));
  if (tensor.dtype == DType::Bool)
    return makeConstant(builder_, location_,
                        integerElements(type(tensor.shape, builder_.getI1Type()), values));
  return integers(tensor.shape, values);
}

mlir::Value FloatBuilder::integers(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value != static_cast<int32_t>(value))
      fail(fmt::format("it computes with {}; integers of 32 bits are supported", value));
  return makeConstant(builder_, location_,
                      integerElements(type(shape, builder_.getI32Type()), values));
}

mlir::Value FloatBuilder::integerLike(mlir::Value value, int64_t scalar) {
  return integers(Shape(shapeOf(value).size(), 1), scalar);
}

mlir::Value FloatBuilder::constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
  if (values.size() == 1 && !std::isfinite(values[0]))
    refuse(fmt::format("it computes with {}; only finite numbers are supported", values[0]));
  return makeConstant(builder_, location_, mlir::DenseElementsAttr::get(floatType(shape), values));
}

mlir::Value FloatBuilder::splat(llvm::ArrayRef<int64_t> shape, float value) {
  return constant(shape, value);
}

mlir::Value FloatBuilder::scalarLike(mlir::Value value, float scalar) {
  return splat(Shape(shapeOf(value).size(), 1), scalar);
}

mlir::Value FloatBuilder::scalarConstant(float value) { return splat({1}, value); }

Shape FloatBuilder::broadcastRanks(mlir::Value &a, mlir::Value &b) {
  Shape shapeA = sizesOf(a), shapeB = sizesOf(b);
  std::optional<Shape> shape = broadcastShapes(shapeA, shapeB);
  if (!shape)
    failToFit(shapeA, shapeB);
  auto raise = [&](mlir::Value value, Shape from) {
    from.insert(from.begin(), shape->size() - from.size(), 1);
    return reshape(value, from);
  };
  a = raise(a, shapeA);
  b = raise(b, shapeB);
  return *shape;
}

mlir::Value FloatBuilder::multiply(mlir::Value a, mlir::Value b) {
  Shape shape = broadcastRanks(a, b);
  mlir::Value shift = makeIntegers(builder_, location_, {1}, 8, 0);
  return tosa::MulOp::create(builder_, location_, type(shape, mlir::getElementTypeOrSelf(a)), a, b,
                             shift);
}

mlir::Value FloatBuilder::clamp(mlir::Value a, float low, float high) {
  auto propagate =
      tosa::NanPropagationModeAttr::get(builder_.getContext(), tosa::NanPropagationMode::PROPAGATE);
  return tosa::ClampOp::create(builder_, location_, a.getType(), a, builder_.getF32FloatAttr(low),
                               builder_.getF32FloatAttr(high), propagate);
}

mlir::Value FloatBuilder::select(mlir::Value condition, mlir::Value a, mlir::Value b) {
  Shape branches = broadcastRanks(a, b);
  broadcastRanks(condition, a);
  broadcastRanks(condition, b);
  std::optional<Shape> all = broadcastShapes(branches, shapeOf(condition));
  if (!all)
    failToFit(branches, shapeOf(condition));
  return tosa::SelectOp::create(builder_, location_, type(*all, mlir::getElementTypeOrSelf(a)),
                                condition, a, b);
}

mlir::Value FloatBuilder::castToFloat(mlir::Value a) {
  return tosa::CastOp::create(builder_, location_, floatType(shapeOf(a)), a);
}

mlir::Value FloatBuilder::castToInteger(mlir::Value a) {
  if (mlir::getElementTypeOrSelf(a).isInteger(32))
    return a;
  return tosa::CastOp::create(builder_, location_, type(shapeOf(a), builder_.getI32Type()), a);
}

mlir::Value FloatBuilder::isNotZero(mlir::Value a) {
  if (mlir::getElementTypeOrSelf(a).isInteger(1))
    return a;
  const bool isFloat = mlir::getElementTypeOrSelf(a).isF32();
  return logicalNot(compare<tosa::EqualOp>(a, isFloat ? scalarLike(a, 0) : integerLike(a, 0)));
}

mlir::Value FloatBuilder::logicalNot(mlir::Value a) { return unary<tosa::LogicalNotOp>(a); }

mlir::Value FloatBuilder::arithmeticRightShift(mlir::Value a, mlir::Value bits) {
  Shape shape = broadcastRanks(a, bits);
  return tosa::ArithmeticRightShiftOp::create(builder_, location_,
                                              type(shape, mlir::getElementTypeOrSelf(a)), a, bits,
                                              builder_.getBoolAttr(false));
}

mlir::Value FloatBuilder::broadcastTo(mlir::Value a, llvm::ArrayRef<int64_t> shape) {
  Shape from = sizesOf(a);
  from.insert(from.begin(), shape.size() - from.size(), 1);
  Shape multiples(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    multiples[i] = from[i] == shape[i] ? 1 : shape[i];
  return tile(reshape(a, from), multiples);
}

mlir::Value FloatBuilder::reshape(mlir::Value a, llvm::ArrayRef<int64_t> shape) {
  if (shapeOf(a) == shape)
    return a;
  if (elementCount(shapeOf(a)) != elementCount(shape))
    failToFit(shapeOf(a), shape);
  mlir::RankedTensorType result = type(shape, mlir::getElementTypeOrSelf(a));
  // A constant in another shape is another constant.
  if (mlir::DenseElementsAttr elements = constantElements(a))
    return makeConstant(builder_, location_, elements.reshape(result));
  return makeReshape(builder_, location_, a, shape);
}

mlir::Value FloatBuilder::transpose(mlir::Value a, llvm::ArrayRef<int32_t> permutation) {
  return makeTranspose(builder_, location_, a, permutation);
}

mlir::Value FloatBuilder::slice(mlir::Value a, llvm::ArrayRef<int64_t> start,
                                llvm::ArrayRef<int64_t> size) {
  return makeSlice(builder_, location_, a, start, size);
}

mlir::Value FloatBuilder::sliceAxis(mlir::Value a, int64_t axis, int64_t start, int64_t size) {
  return makeSliceOfAxis(builder_, location_, a, axis, start, size);
}

mlir::Value FloatBuilder::pad(mlir::Value a, llvm::ArrayRef<int64_t> before,
                              llvm::ArrayRef<int64_t> after, double value) {
  Shape shape = sizesOf(a), padding;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (before[i] > maxTensorBytes || after[i] > maxTensorBytes)
      fail(fmt::format("padding {}, {} is too large", before[i], after[i]));
    shape[i] += before[i] + after[i];
    padding.push_back(before[i]);
    padding.push_back(after[i]);
  }
  if (shapeOf(a) == llvm::ArrayRef(shape))
    return a;
  mlir::Type element = type(shape, mlir::getElementTypeOrSelf(a)).getElementType();
  mlir::Value fill =
      element.isF32()
          ? scalarConstant(static_cast<float>(value))
          : makeConstant(builder_, location_,
                         integerElements(type({1}, element), static_cast<int64_t>(value)));
  return makePad(builder_, location_, a, padding, fill);
}

mlir::Value FloatBuilder::concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Shape shape = sizesOf(parts.front());
  int64_t length = 0;
  for (mlir::Value part : parts) {
    Shape expected = sizesOf(part);
    if (expected.size() == shape.size()) {
      length += expected[axis];
      expected[axis] = shape[axis];
    }
    if (expected != shape)
      fail(fmt::format("shapes {} and {} cannot be concatenated along axis {}",
                       formatShape(shapeOf(parts.front())), formatShape(shapeOf(part)), axis));
  }
  shape[axis] = length;
  (void)type(shape, mlir::getElementTypeOrSelf(parts.front()));
  return makeConcat(builder_, location_, parts, axis);
}

mlir::Value FloatBuilder::reverse(mlir::Value a, int64_t axis) {
  return tosa::ReverseOp::create(builder_, location_, a.getType(), a,
                                 builder_.getI32IntegerAttr(static_cast<int32_t>(axis)));
}

mlir::Value FloatBuilder::tile(mlir::Value a, llvm::ArrayRef<int64_t> multiples) {
  Shape shape = sizesOf(a);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (multiples[i] > maxTensorBytes / shape[i])
      refuse(fmt::format("repeating a dimension {} times is too much", multiples[i]));
    shape[i] *= multiples[i];
  }
  if (shapeOf(a) == llvm::ArrayRef(shape))
    return a;
  return tosa::TileOp::create(builder_, location_, type(shape, mlir::getElementTypeOrSelf(a)), a,
                              makeShape(builder_, location_, multiples));
}

// Of a gather, which holds them for every index of the dimensions before the axis.
static constexpr int64_t maxIndices = int64_t(4) << 20;

mlir::Value FloatBuilder::gatherAxis(mlir::Value a, int64_t axis, llvm::ArrayRef<int32_t> indices) {
  Shape shape = sizesOf(a);
  auto dims = llvm::ArrayRef<int64_t>(shape);
  int64_t outer = elementCount(dims.take_front(axis));
  auto count = static_cast<int64_t>(indices.size());
  if (outer * count > maxIndices)
    refuse(fmt::format("gathering along axis {} of a tensor of shape {} needs too many indices",
                       axis, formatShape(shape)));
  shape[axis] = count;
  (void)type(shape, mlir::getElementTypeOrSelf(a));
  return makeGatherOfAxis(builder_, location_, a, axis, llvm::to_vector_of<int64_t>(indices));
}

void FloatBuilder::checkWindow(const Window &window) const {
  for (int i : {0, 1}) {
    if ((window.kernel[i] - 1) * window.dilation[i] + 1 > maxKernel ||
        window.padBegin[i] > maxKernel || window.padEnd[i] > maxKernel)
      refuse(fmt::format("windows and pads above {} are not supported", maxKernel));
    if (window.stride[i] > maxStride)
      refuse(fmt::format("strides above {} are not supported", maxStride));
  }
}

mlir::DenseI64ArrayAttr FloatBuilder::pads(const Window &window) {
  return builder_.getDenseI64ArrayAttr(
      {window.padBegin[0], window.padEnd[0], window.padBegin[1], window.padEnd[1]});
}

mlir::DenseI64ArrayAttr FloatBuilder::pair(const std::array<int64_t, 2> &values) {
  return builder_.getDenseI64ArrayAttr(values);
}

mlir::Value FloatBuilder::cropped(mlir::Value input, const Window &window) {
  Shape size = sizesOf(input);
  size[1] -= window.crop[0];
  size[2] -= window.crop[1];
  return slice(input, Shape(4, 0), size);
}

mlir::Value FloatBuilder::conv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
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

mlir::Value FloatBuilder::depthwiseConv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                                          const Window &window) {
  checkWindow(window);
  mlir::Type f32 = builder_.getF32Type();
  Shape kernel = sizesOf(weight); // [KH, KW, C, M]
  auto result =
      floatType({shapeOf(input)[0], window.output[0], window.output[1], kernel[2] * kernel[3]});
  return tosa::DepthwiseConv2DOp::create(builder_, location_, result, cropped(input, window),
                                         weight, bias, scalarConstant(0), scalarConstant(0),
                                         pads(window), pair(window.stride), pair(window.dilation),
                                         mlir::TypeAttr::get(f32), builder_.getBoolAttr(false));
}

mlir::Value FloatBuilder::transposeConv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                                          llvm::ArrayRef<int64_t> outPad,
                                          llvm::ArrayRef<int64_t> stride) {
  Shape in = sizesOf(input), kernel = sizesOf(weight); // [OC, KH, KW, IC]
  Window window;
  window.kernel = {kernel[1], kernel[2]};
  window.stride = {stride[0], stride[1]};
  checkWindow(window);
  Shape out = {in[0], (in[1] - 1) * stride[0] + outPad[0] + outPad[1] + kernel[1],
               (in[2] - 1) * stride[1] + outPad[2] + outPad[3] + kernel[2], kernel[0]};
  for (size_t i : {0, 1})
    if (outPad[2 * i] <= -kernel[1 + i] || outPad[2 * i + 1] <= -kernel[1 + i] || out[1 + i] < 1)
      fail("pads are not smaller than the kernel");
  return tosa::TransposeConv2DOp::create(
      builder_, location_, floatType(out), input, weight, bias, scalarConstant(0),
      scalarConstant(0), builder_.getDenseI64ArrayAttr(outPad),
      builder_.getDenseI64ArrayAttr(stride), mlir::TypeAttr::get(builder_.getF32Type()),
      builder_.getBoolAttr(false));
}

mlir::Value FloatBuilder::averagePool2d(mlir::Value input, const Window &window) {
  checkWindow(window);
  Shape shape = sizesOf(input);
  auto result = floatType({shape[0], window.output[0], window.output[1], shape[3]});
  return tosa::AvgPool2dOp::create(builder_, location_, result, cropped(input, window),
                                   scalarConstant(0), scalarConstant(0), pair(window.kernel),
                                   pair(window.stride), pads(window),
                                   mlir::TypeAttr::get(builder_.getF32Type()));
}

mlir::Value FloatBuilder::maxPool2d(mlir::Value input, const Window &window) {
  checkWindow(window);
  Shape shape = sizesOf(input);
  auto result = floatType({shape[0], window.output[0], window.output[1], shape[3]});
  auto propagate =
      tosa::NanPropagationModeAttr::get(builder_.getContext(), tosa::NanPropagationMode::PROPAGATE);
  return tosa::MaxPool2dOp::create(builder_, location_, result, cropped(input, window),
                                   pair(window.kernel), pair(window.stride), pads(window),
                                   propagate);
}

mlir::Value FloatBuilder::resize(mlir::Value input, llvm::ArrayRef<int64_t> outputSize,
                                 llvm::ArrayRef<int64_t> scale, llvm::ArrayRef<int64_t> offset,
                                 llvm::ArrayRef<int64_t> border, bool bilinear) {
  Shape shape = sizesOf(input);
  auto mode = tosa::ResizeModeAttr::get(builder_.getContext(),
                                        bilinear ? tosa::ResizeMode::BILINEAR
                                                 : tosa::ResizeMode::NEAREST_NEIGHBOR);
  return tosa::ResizeOp::create(
      builder_, location_, floatType({shape[0], outputSize[0], outputSize[1], shape[3]}), input,
      makeShape(builder_, location_, scale), makeShape(builder_, location_, offset),
      makeShape(builder_, location_, border), mode);
}

mlir::Value FloatBuilder::matmul(mlir::Value a, mlir::Value b) {
  Shape shapeA = sizesOf(a), shapeB = sizesOf(b);
  if (shapeA[0] != shapeB[0])
    failToFit(shapeA, shapeB);
  if (shapeA[2] != shapeB[1])
    fail(fmt::format("matrices of {}x{} and {}x{} do not fit each other", shapeA[1], shapeA[2],
                     shapeB[1], shapeB[2]));
  return tosa::MatMulOp::create(builder_, location_, floatType({shapeA[0], shapeA[1], shapeB[2]}),
                                a, b, scalarConstant(0), scalarConstant(0));
}

} // namespace tilewright
