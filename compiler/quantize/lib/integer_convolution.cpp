#include "integer_convolution.h"

#include "split.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>
#include <cstdlib>

using namespace mlir;

namespace tilewright::quantization {

// The sums of `shape` that a convolution like `op`, of these attributes, makes of `x`.
static Accumulator sumsOf(IntegerBuilder &integer, Operation *op, const Quantized &x,
                          ArrayRef<int64_t> weightShape, const QuantizedWeights &weights,
                          ArrayRef<int64_t> shape, ArrayRef<NamedAttribute> attributes) {
  auto outputs = weights.bias.size();
  OperationState state(op->getLoc(), op->getName());
  state.addOperands({x.value, integer.constant(weightShape, weights.weights),
                     integer.constant({static_cast<int64_t>(outputs)}, 32, weights.bias),
                     integer.constant({1}, 8, {x.parameters.zeroPoint}),
                     integer.constant({1}, 8, {weights.zeroPoint})});
  state.addTypes(integer.type(shape, 32));
  state.addAttributes(attributes);
  state.attributes.set("acc_type", TypeAttr::get(integer.builder().getI32Type()));
  std::vector<double> magnitudes;
  bool isDepthwise = isa<tosa::DepthwiseConv2DOp>(op);
  size_t perOutput = weights.weights.size() / outputs;
  for (size_t c = 0; c < outputs; ++c) {
    int64_t sum = 0; // of |weights|
    for (size_t k = 0; k < perOutput; ++k)
      sum += std::abs(weights.weights[isDepthwise ? k * outputs + c : c * perOutput + k] -
                      weights.zeroPoint);
    magnitudes.push_back(std::fabs(double(weights.bias[c])) +
                         double(sum) * x.parameters.magnitude());
  }
  return {integer.builder().create(state)->getResult(0), weights.scales, magnitudes};
}

// All parts of a pointwise convolution in one: all pixels of a part of its operand are one row,
// the rows stand below each other, and the kernel reaches over them. Copying rows costs less than
// interleaving channels.
static Accumulator convolveStacked(IntegerBuilder &integer, Operation *op, const Quantized &x,
                                   const IntegerFilter &own) {
  ArrayRef<int64_t> image = tensorType(x.value).getShape();
  int64_t pixels = image[1] * image[2], outputs = own.filter.shape[0];
  Value row =
      makeReshape(integer.builder(), integer.location(), x.value, {image[0], 1, pixels, image[3]});
  Value stack = stackActivations(integer, row, own.factors, own.input);
  NamedAttrList attributes(op->getAttrs());
  // Rows stand below each other, whatever the dilation of a kernel of one pixel was.
  attributes.set("dilation", integer.builder().getDenseI64ArrayAttr({1, 1}));
  return sumsOf(integer, op, {stack, own.input}, {outputs, 3, 1, own.filter.shape[3]},
                stackWeights(own.filter, own.weights, own.input.scale),
                {image[0], 1, pixels, outputs}, attributes);
}

Accumulator convolve(IntegerBuilder &integer, Operation *op, const Quantized &x,
                     IntegerFilter own) {
  const Filter &filter = own.filter;
  const ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  if (x.parameters.bits == 8)
    return sumsOf(integer, op, x, filter.shape, own.weights, shape, op->getAttrs());
  if (own.isStacked)
    return convolveStacked(integer, op, x, own);
  Quantized high{highActivations(integer, x.value, own.factors, own.input), own.input};
  Accumulator sum = sumsOf(integer, op, high, filter.shape, own.weights, shape, op->getAttrs());
  own.weights.bias.assign(own.weights.bias.size(), 0);
  Quantized low{lowActivations(integer, x.value, own.factors), {own.input.scale * lowStep, 0, 8}};
  Accumulator rest = sumsOf(integer, op, low, filter.shape, own.weights, shape, op->getAttrs());
  sum.value =
      integer.binary<tosa::AddOp>(integer.rescale(rest.value, 0, {lowStep}, {1, 0, 32}), sum.value);
  for (size_t c = 0; c < sum.magnitudes.size(); ++c)
    sum.magnitudes[c] += rest.magnitudes[c] * lowStep + 1;
  return sum;
}

} // namespace tilewright::quantization
