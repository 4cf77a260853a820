#include "select.h"
#include "tilewright/compiler/select/kernel_dialect.h"

using namespace mlir;

namespace tilewright {

Selected selectPool(tosa::MaxPool2dOp op, OpBuilder &builder) {
  if (!hasElement(op.getInput(), 8))
    return unsupported(op, "pooling of " + elementName(op.getInput()) +
                               " is not supported yet, only i8");
  return kernel::MaxPoolOp::create(builder, op.getLoc(), op.getType(), op.getInput(),
                                   op.getKernel(), op.getStride(), op.getPad());
}

Selected selectPool(tosa::AvgPool2dOp op, OpBuilder &builder) {
  if (!hasElement(op.getInput(), 8))
    return unsupported(op, "pooling of " + elementName(op.getInput()) +
                               " is not supported yet, only i8");
  FailureOr<int64_t> inputZp = op.getInputZeroPoint(), outputZp = op.getOutputZeroPoint();
  if (failed(inputZp) || failed(outputZp))
    return unsupported(op, "its zero points are not constant");
  return kernel::AvgPoolOp::create(builder, op.getLoc(), op.getType(), op.getInput(),
                                   op.getKernel(), op.getStride(), op.getPad(), *inputZp,
                                   *outputZp);
}

} // namespace tilewright
