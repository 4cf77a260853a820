#include "conv3d.h"

#include "dims.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/moves.h"

namespace tilewright {

namespace tosa = mlir::tosa;
using mlir::Value;

void decomposeConv3D(tosa::Conv3DOp op) {
  mlir::OpBuilder builder(op);
  const mlir::Location location = op.getLoc();
  const Dims input = dimsOf(op.getInput()), weight = dimsOf(op.getWeight()),
             output = dimsOf(op.getOutput());
  llvm::ArrayRef<int64_t> pad = op.getPad(), stride = op.getStride(), dilation = op.getDilation();
  const int64_t samples = input[0], depth = output[1], images = samples * depth;

  const Value padded = makePad(builder, location,
                               makeReshape(builder, location, op.getInput(),
                                           {samples, input[1], input[2] * input[3] * input[4]}),
                               {0, 0, pad[0], pad[1], 0, 0}, op.getInputZp());
  llvm::SmallVector<Value> taps;
  for (int64_t tap = 0; tap < weight[1]; ++tap) {
    llvm::SmallVector<int64_t> depths;
    for (int64_t i = 0; i < depth; ++i)
      depths.push_back(i * stride[0] + tap * dilation[0]);
    taps.push_back(makeReshape(builder, location,
                               makeGatherOfAxis(builder, location, padded, 1, depths),
                               {images, input[2], input[3], input[4]}));
  }
  const Value weights = makeReshape(
      builder, location, makeTranspose(builder, location, op.getWeight(), {0, 2, 3, 1, 4}),
      {weight[0], weight[2], weight[3], weight[1] * weight[4]});
  const auto type = mlir::RankedTensorType::get({images, output[2], output[3], output[4]},
                                                elementOf(op.getOutput()));
  const Value result = tosa::Conv2DOp::create(
      builder, location, type, makeConcat(builder, location, taps, 3), weights, op.getBias(),
      op.getInputZp(), op.getWeightZp(), builder.getDenseI64ArrayAttr(pad.drop_front(2)),
      builder.getDenseI64ArrayAttr(stride.drop_front()),
      builder.getDenseI64ArrayAttr(dilation.drop_front()), op.getAccTypeAttr(),
      op.getLocalBoundAttr());
  op.replaceAllUsesWith(makeReshape(builder, location, result, output));
  op.erase();
}

} // namespace tilewright
