#include "check.h"
#include "tilewright/compiler/tosa/limits.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright {

static LogicalResult checkLimit(Operation *op, StringRef what, ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value > maxKernel)
      return op->emitOpError() << what << " must be at most " << maxKernel << ", not " << value;
  return success();
}

static LogicalResult checkCount(Operation *op, StringRef what, int64_t actual, int64_t expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << what << " must be " << expected << ", not " << actual;
}

// kernel: height and width of the window; inputs: the channels that the weights are for.
template <typename Op>
static LogicalResult checkConvolution(Op op, ArrayRef<int64_t> kernel, int64_t inputs,
                                      int64_t outputs) {
  ArrayRef<int64_t> x = shapeOf(op.getInput()), result = shapeOf(op.getOutput());
  if (failed(checkCount(op, "number of the weights' input channels", inputs, x[3])) ||
      failed(checkCount(op, "number of output channels", result[3], outputs)) ||
      failed(checkCount(op, "number of output batches", result[0], x[0])) ||
      failed(checkLimit(op, "size of the kernel", kernel)) ||
      failed(checkLimit(op, "dilation", op.getDilation())) ||
      failed(checkLimit(op, "stride", op.getStride())) ||
      failed(checkLimit(op, "pad", op.getPad())))
    return failure();
  return checkLimit(op, "size of the kernel times its dilation",
                    {kernel[0] * op.getDilation()[0], kernel[1] * op.getDilation()[1]});
}

LogicalResult checkWindow(tosa::Conv2DOp op) {
  ArrayRef<int64_t> weight = shapeOf(op.getWeight());
  return checkConvolution(op, weight.slice(1, 2), weight[3], weight[0]);
}

LogicalResult checkWindow(tosa::DepthwiseConv2DOp op) {
  ArrayRef<int64_t> weight = shapeOf(op.getWeight());
  return checkConvolution(op, weight.slice(0, 2), weight[2], weight[2] * weight[3]);
}

template <typename Op> static LogicalResult checkPool(Op op) {
  ArrayRef<int64_t> x = shapeOf(op.getInput()), result = shapeOf(op.getOutput());
  if (failed(checkCount(op, "number of output channels", result[3], x[3])) ||
      failed(checkCount(op, "number of output batches", result[0], x[0])) ||
      failed(checkLimit(op, "size of the kernel", op.getKernel())))
    return failure();
  return checkLimit(op, "stride", op.getStride());
}

LogicalResult checkWindow(tosa::MaxPool2dOp op) { return checkPool(op); }
LogicalResult checkWindow(tosa::AvgPool2dOp op) { return checkPool(op); }

} // namespace tilewright
