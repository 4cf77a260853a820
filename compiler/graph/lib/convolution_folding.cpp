// What follows a convolution channel by channel becomes part of its weights and bias, what pads its
// input part of its pads.
//
//   mul(conv(x, w, b), s) = conv(x, w * s, b * s)      s: one value, or one for each output channel
//   add(conv(x, w, b), t) = conv(x, w, b + t)
//   conv(pad(x, zero point)) = conv(x) with more pads
#include "dims.h"
#include "patterns.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/limits.h"

#include <cmath>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

bool isConvolution(mlir::Operation *op) {
  return llvm::isa_and_nonnull<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(
      op);
}

// The operands of all three convolutions stand in one order.
enum ConvOperand { convInput, convWeight, convBias, convInputZeroPoint, convWeightZeroPoint };

// One value for each output channel, when `value` is a constant that is the same everywhere within
// a channel.
std::optional<std::vector<float>> perChannel(mlir::Value value, int64_t channels) {
  std::optional<std::vector<float>> values = constantFloats(value);
  if (!values)
    return std::nullopt;
  Dims dims = dimsOf(value);
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (dims[i] != 1)
      return std::nullopt;
  if (values->size() == 1)
    values->resize(channels, values->front());
  return static_cast<int64_t>(values->size()) == channels ? values : std::nullopt;
}

// The output channel of each weight: the first dimension of [OC, KH, KW, IC], the last two of [KH,
// KW, C, M].
int64_t channelOf(mlir::Operation *conv, const Dims &dims, int64_t index) {
  if (llvm::isa<tosa::DepthwiseConv2DOp>(conv))
    return index % (dims[2] * dims[3]);
  return index / (dims[1] * dims[2] * dims[3]);
}

// The convolution that `op` scales or shifts: nobody else uses its result, and its shape stays.
mlir::Operation *foldableProducer(mlir::Operation *op) {
  mlir::Operation *conv = op->getOperand(0).getDefiningOp();
  if (!isConvolution(conv) || !conv->hasOneUse() || !isFloat32(conv->getResult(0)) ||
      conv->getResult(0).getType() != op->getResult(0).getType())
    return nullptr;
  return conv;
}

void absorb(PatternRewriter &rewriter, mlir::Operation *op, mlir::Operation *conv,
            mlir::Value weight, mlir::Value bias) {
  rewriter.modifyOpInPlace(conv, [&] {
    conv->setOperand(convWeight, weight);
    conv->setOperand(convBias, bias);
    conv->setLoc(fusedLocation(conv->getLoc(), op->getLoc()));
  });
  rewriter.replaceOp(op, conv);
}

LogicalResult foldScale(tosa::MulOp op, PatternRewriter &rewriter) {
  mlir::Operation *conv = foldableProducer(op);
  if (!conv)
    return failure();
  int64_t channels = dimsOf(op.getOutput()).back();
  auto scale = perChannel(op.getInput2(), channels);
  auto weight = constantFloats(conv->getOperand(convWeight));
  auto bias = perChannel(conv->getOperand(convBias), channels);
  if (!scale || !weight || !bias)
    return failure();
  Dims dims = dimsOf(conv->getOperand(convWeight));
  for (size_t i = 0; i < weight->size(); ++i)
    (*weight)[i] *= (*scale)[channelOf(conv, dims, static_cast<int64_t>(i))];
  for (int64_t i = 0; i < channels; ++i)
    (*bias)[i] *= (*scale)[i];
  rewriter.setInsertionPoint(conv);
  absorb(rewriter, op, conv, makeFloats(rewriter, conv->getLoc(), dims, *weight),
         makeFloats(rewriter, conv->getLoc(), {channels}, *bias));
  return success();
}

LogicalResult foldOffset(tosa::AddOp op, PatternRewriter &rewriter) {
  mlir::Operation *conv = foldableProducer(op);
  if (!conv)
    return failure();
  int64_t channels = dimsOf(op.getOutput()).back();
  auto offset = perChannel(op.getInput2(), channels);
  auto bias = perChannel(conv->getOperand(convBias), channels);
  if (!offset || !bias)
    return failure();
  for (int64_t i = 0; i < channels; ++i)
    (*bias)[i] += (*offset)[i];
  rewriter.setInsertionPoint(conv);
  absorb(rewriter, op, conv, conv->getOperand(convWeight),
         makeFloats(rewriter, conv->getLoc(), {channels}, *bias));
  return success();
}

// A grouped convolution is a concat of convolutions: what follows the concat is split among them.
template <typename Op> LogicalResult distributeOverConcat(Op op, PatternRewriter &rewriter) {
  auto concat = op->getOperand(0).template getDefiningOp<tosa::ConcatOp>();
  if (!concat || !concat->hasOneUse() || concat.getType() != op.getType() ||
      concat.getAxis() != 3 || !isFloat32(op.getOutput()))
    return failure();
  auto values = perChannel(op->getOperand(1), dimsOf(op.getOutput()).back());
  if (!values)
    return failure();
  for (mlir::Value part : concat.getInput1())
    if (!isConvolution(part.getDefiningOp()) || !part.hasOneUse())
      return failure();
  llvm::SmallVector<mlir::Value> parts;
  size_t start = 0;
  for (mlir::Value part : concat.getInput1()) {
    int64_t channels = dimsOf(part).back();
    mlir::Value constant =
        makeFloats(rewriter, op.getLoc(), {1, 1, 1, channels},
                   llvm::ArrayRef<float>(*values).slice(start, static_cast<size_t>(channels)));
    mlir::Operation *each = rewriter.clone(*op);
    each->setOperand(0, part);
    each->setOperand(1, constant);
    each->getResult(0).setType(part.getType());
    parts.push_back(each->getResult(0));
    start += channels;
  }
  rewriter.replaceOpWithNewOp<tosa::ConcatOp>(op, op.getType(), parts, concat.getAxisAttr());
  return success();
}

// The pads of a tosa.pad on rows and columns of NHWC only, as top, bottom, left, right.
std::optional<Dims> imagePads(tosa::PadOp pad) {
  std::optional<Dims> padding = constantIntegers(pad.getPadding());
  if (!padding || padding->size() != 8 || (*padding)[0] != 0 || (*padding)[1] != 0 ||
      (*padding)[6] != 0 || (*padding)[7] != 0)
    return std::nullopt;
  return Dims(padding->begin() + 2, padding->begin() + 6);
}

template <typename Op>
LogicalResult absorbPad(Op op, tosa::PadOp pad, PatternRewriter &rewriter, const Dims &limits) {
  std::optional<Dims> pads = imagePads(pad);
  if (!pads)
    return failure();
  for (int i = 0; i < 4; ++i) {
    (*pads)[i] += op.getPad()[i];
    if ((*pads)[i] > limits[i])
      return failure();
  }
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, pad.getInput1());
    op.setPad(*pads);
  });
  return success();
}

template <typename Conv> LogicalResult foldPadIntoConv(Conv op, PatternRewriter &rewriter) {
  auto pad = op.getInput().template getDefiningOp<tosa::PadOp>();
  if (!pad)
    return failure();
  // A convolution's own pads hold the zero point of its input.
  mlir::DenseElementsAttr fill = constantElements(pad.getPadConst()),
                          zero = constantElements(op.getInputZp());
  if (!fill || !zero || fill.getElementType() != zero.getElementType() ||
      *fill.value_begin<mlir::Attribute>() != *zero.value_begin<mlir::Attribute>())
    return failure();
  return absorbPad(op, pad, rewriter, Dims(4, maxKernel));
}

LogicalResult foldPadIntoMaxPool(tosa::MaxPool2dOp op, PatternRewriter &rewriter) {
  auto pad = op.getInput().getDefiningOp<tosa::PadOp>();
  std::optional<float> fill = pad ? splatFloat(pad.getPadConst()) : std::nullopt;
  if (!fill || *fill != -INFINITY)
    return failure();
  auto kernel = op.getKernel();
  return absorbPad(op, pad, rewriter, {kernel[0] - 1, kernel[0] - 1, kernel[1] - 1, kernel[1] - 1});
}

} // namespace

void addConvolutionFolding(mlir::RewritePatternSet &patterns) {
  patterns.add(foldScale)
      .add(foldOffset)
      .add(distributeOverConcat<tosa::AddOp>)
      .add(distributeOverConcat<tosa::MulOp>)
      .add(foldPadIntoConv<tosa::Conv2DOp>)
      .add(foldPadIntoConv<tosa::DepthwiseConv2DOp>)
      .add(foldPadIntoMaxPool);
}

} // namespace tilewright
