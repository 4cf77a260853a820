#include "select.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/tosa/constants.h"

using namespace mlir;

namespace tilewright {

// What conv2d and depthwise_conv2d have in common; Kernel is the operation that either becomes.
template <typename Kernel, typename Op> static Selected select(Op op, OpBuilder &builder) {
  if (!hasElement(op.getInput(), 8) || !hasElement(op.getWeight(), 8))
    return unsupported(op, "convolutions of " + elementName(op.getInput()) + " by " +
                               elementName(op.getWeight()) +
                               " are not supported yet, only i8 by i8");
  if (!hasElement(op.getBias(), 32) || !hasElement(op.getOutput(), 32))
    return unsupported(op, "bias and result must be i32");
  if (!constantElements(op.getWeight()))
    return unsupported(op, "its weights are not constant");
  if (!constantElements(op.getBias()))
    return unsupported(op, "its bias is not constant");
  FailureOr<int64_t> inputZp = op.getInputZeroPoint(), weightZp = op.getWeightZeroPoint();
  if (failed(inputZp) || failed(weightZp))
    return unsupported(op, "its zero points are not constant");
  return Kernel::create(builder, op.getLoc(), op.getType(), op.getInput(), op.getWeight(),
                        op.getBias(), op.getStride(), op.getPad(), op.getDilation(), *inputZp,
                        *weightZp);
}

Selected selectConvolution(tosa::Conv2DOp op, OpBuilder &builder) {
  return select<kernel::Conv2DOp>(op, builder);
}

Selected selectConvolution(tosa::DepthwiseConv2DOp op, OpBuilder &builder) {
  return select<kernel::DepthwiseOp>(op, builder);
}

Selected selectMatMul(tosa::MatMulOp op, OpBuilder &builder) {
  if (!hasElement(op.getA(), 8) || !hasElement(op.getB(), 8) || !hasElement(op.getOutput(), 32))
    return unsupported(op, "products of " + elementName(op.getA()) + " by " +
                               elementName(op.getB()) +
                               " are not supported yet, only i8 by i8 to i32");
  FailureOr<int64_t> aZp = op.getAZeroPoint(), bZp = op.getBZeroPoint();
  if (failed(aZp) || failed(bZp))
    return unsupported(op, "its zero points are not constant");
  return kernel::MatMulOp::create(builder, op.getLoc(), op.getType(), op.getA(), op.getB(), *aZp,
                                  *bZp);
}

} // namespace tilewright
