// Conv and ConvTranspose.
#include "operators.h"
#include "window.h"

#include "tilewright/compiler/tosa/limits.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

void checkRank(NodeImporter &node, const Shape &shape, int64_t spatialRank) {
  if (static_cast<int64_t>(shape.size()) != spatialRank + 2)
    node.refuse(fmt::format("weights of shape {} do not fit an input of {} dimensions",
                            formatShape(shape), spatialRank + 2));
}

// Weights as OIHW; those of a one-dimensional convolution are one row.
mlir::Value imageWeights(NodeImporter &node, int64_t spatialRank) {
  mlir::Value weight = node.floatValue(1);
  Shape shape = sizesOf(weight);
  checkRank(node, shape, spatialRank);
  return spatialRank == 1 ? node.tosa().reshape(weight, {shape[0], shape[1], 1, shape[2]}) : weight;
}

// The weights where they need not become a value before their dimensions are in another order.
const Tensor *knownWeights(NodeImporter &node, int64_t spatialRank) {
  const Tensor *known = node.constant(1);
  bool isSound = known && known->dtype == DType::F32 && known->elements() > 0 &&
                 static_cast<int64_t>(known->shape.size()) == spatialRank + 2;
  return isSound ? known : nullptr; // what is wrong with others is said when they become a value
}

// The weights' shape as OIHW; those of a one-dimensional convolution are one row.
Shape weightShape(NodeImporter &node, int64_t spatialRank) {
  const Tensor *known = knownWeights(node, spatialRank);
  Shape shape = known ? known->shape : sizesOf(node.floatValue(1));
  checkRank(node, shape, spatialRank);
  if (spatialRank == 1)
    shape.insert(shape.begin() + 2, 1);
  return shape;
}

// The weights, in `shape`, with their dimensions in another order. Those that are known become a
// constant in that order at once: the context keeps every constant that it ever had.
mlir::Value orderedWeights(NodeImporter &node, int64_t spatialRank, const Shape &shape,
                           const std::array<int32_t, 4> &order) {
  const Tensor *known = knownWeights(node, spatialRank);
  if (!known)
    return node.tosa().transpose(node.tosa().reshape(node.floatValue(1), shape), order);
  node.checkFinite(*known, 1);
  std::array<int64_t, 4> strides{}, steps{};
  Shape ordered(4);
  for (int64_t i = 3, stride = 1; i >= 0; stride *= shape[i--])
    strides[i] = stride;
  for (size_t i = 0; i < 4; ++i) {
    ordered[i] = shape[order[i]];
    steps[i] = strides[order[i]];
  }
  std::vector<float> values(known->elements());
  float *to = values.data();
  for (int64_t a = 0; a < ordered[0]; ++a)
    for (int64_t b = 0; b < ordered[1]; ++b)
      for (int64_t c = 0; c < ordered[2]; ++c) {
        const float *from = known->data<float>() + a * steps[0] + b * steps[1] + c * steps[2];
        for (int64_t d = 0; d < ordered[3]; ++d)
          *to++ = from[d * steps[3]];
      }
  return node.tosa().constant(ordered, values);
}

mlir::Value biasOf(NodeImporter &node, int64_t channels) {
  if (!node.has(2))
    return node.tosa().splat({channels}, 0);
  mlir::Value bias = node.floatValue(2);
  if (sizesOf(bias) != Shape{channels})
    node.fail(fmt::format("a bias of shape {} does not fit {} output channels",
                          formatShape(sizesOf(bias)), channels));
  return bias;
}

// Zeros between the taps of weights [IC, OC, KH, KW], for a dilation that TOSA's transposed
// convolution has not.
mlir::Value dilated(FloatBuilder &tosa, mlir::Value weight,
                    const std::array<int64_t, 2> &dilation) {
  if (dilation[0] == 1 && dilation[1] == 1)
    return weight;
  const Shape taps = sizesOf(weight);
  const int64_t rows = taps[2] * dilation[0], columns = taps[3] * dilation[1];
  mlir::Value apart = tosa.pad(tosa.reshape(weight, {taps[0] * taps[1], taps[2], 1, taps[3], 1}),
                               {0, 0, 0, 0, 0}, {0, 0, dilation[0] - 1, 0, dilation[1] - 1}, 0);
  return tosa.slice(tosa.reshape(apart, {taps[0], taps[1], rows, columns}), {0, 0, 0, 0},
                    {taps[0], taps[1], rows - dilation[0] + 1, columns - dilation[1] + 1});
}

void checkKernelShape(NodeImporter &node, llvm::ArrayRef<int64_t> oihw, int64_t spatialRank) {
  if (!node.hasAttribute("kernel_shape"))
    return;
  std::array<int64_t, 2> kernel = kernelShape(node, spatialRank);
  if (kernel[0] != oihw[2] || kernel[1] != oihw[3])
    node.fail(fmt::format("attribute 'kernel_shape' is {}x{}, and the weights are {}x{}", kernel[0],
                          kernel[1], oihw[2], oihw[3]));
}

} // namespace

static void buildConv(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  int64_t rank = node.rank(0);
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  Shape nhwc = sizesOf(input), oihw = weightShape(node, rank - 2);
  checkKernelShape(node, oihw, rank - 2);
  int64_t groups = node.integer("group", 1), channels = nhwc[3], outputs = oihw[0];
  if (groups < 1 || channels % groups != 0 || outputs % groups != 0)
    node.fail(fmt::format("{} groups do not divide {} input and {} output channels", groups,
                          channels, outputs));
  if (oihw[1] != channels / groups)
    node.fail(fmt::format("the weights are for {} input channels a group, and the input has {}",
                          oihw[1], channels / groups));
  mlir::Value bias = biasOf(node, outputs);
  Window window = makeWindow(node, nhwc, {oihw[2], oihw[3]}, rank - 2);

  mlir::Value output;
  if (groups == 1) {
    output = tosa.conv2d(input, orderedWeights(node, rank - 2, oihw, {0, 2, 3, 1}), bias, window);
  } else if (groups == channels) {
    // [C * M, 1, KH, KW] to [KH, KW, C, M]
    Shape split = {channels, outputs / channels, oihw[2], oihw[3]};
    output = tosa.depthwiseConv2d(input, orderedWeights(node, rank - 2, split, {2, 3, 0, 1}), bias,
                                  window);
  } else {
    std::vector<mlir::Value> parts;
    mlir::Value ohwi = orderedWeights(node, rank - 2, oihw, {0, 2, 3, 1});
    int64_t in = channels / groups, out = outputs / groups;
    for (int64_t g = 0; g < groups; ++g)
      parts.push_back(tosa.conv2d(tosa.sliceAxis(input, 3, g * in, in),
                                  tosa.sliceAxis(ohwi, 0, g * out, out),
                                  tosa.sliceAxis(bias, 0, g * out, out), window));
    output = tosa.concat(parts, 3);
  }
  node.setResult(fromChannelsLast(node, output, rank));
}

static void buildConvTranspose(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  int64_t rank = node.rank(0);
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  mlir::Value weight = imageWeights(node, rank - 2); // [IC, OC / groups, KH, KW]
  checkKernelShape(node, sizesOf(weight), rank - 2);
  weight = dilated(tosa, weight, spatialPair(node, "dilations", 1, rank - 2));
  Shape nhwc = sizesOf(input), iohw = sizesOf(weight);
  int64_t groups = node.integer("group", 1);
  if (groups < 1 || nhwc[3] % groups != 0 || iohw[0] != nhwc[3])
    node.fail(fmt::format("weights of shape {} in {} groups do not fit {} input channels",
                          formatShape(iohw), groups, nhwc[3]));
  std::array<int64_t, 2> stride = spatialPair(node, "strides", 1, rank - 2);
  std::vector<int64_t> zeros(rank - 2, 0);
  std::vector<int64_t> extra = node.integers("output_padding", zeros);
  std::vector<int64_t> wanted = node.integers("output_shape", zeros);
  for (int64_t size : wanted)
    if (node.hasAttribute("output_shape") && size < 1)
      node.fail(fmt::format("attribute 'output_shape' holds {}", size));
  std::vector<int64_t> pads = node.integers("pads", std::vector<int64_t>(2 * (rank - 2), 0));
  if (extra.size() != zeros.size() || wanted.size() != zeros.size() ||
      pads.size() != 2 * zeros.size())
    node.fail("an attribute has not one value for each spatial dimension");
  std::string autoPad = autoPadOf(node);

  // TOSA's out_pad adds to the full result, ONNX's pads take away from it.
  std::array<int64_t, 4> outPad = {0, 0, 0, 0};
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t spatial = 2 - (rank - 2) + i;
    int64_t full = (nhwc[1 + spatial] - 1) * stride[spatial] + iohw[2 + spatial];
    int64_t begin = pads[i], end = pads[rank - 2 + i];
    if (extra[i] < 0 || extra[i] > stride[spatial] || std::min(begin, end) < -maxKernel ||
        std::max(begin, end) > maxKernel)
      node.fail("attribute 'pads' or 'output_padding' is out of range");
    bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
    if (same || wanted[i] > 0) {
      int64_t out = wanted[i] > 0 ? wanted[i] : nhwc[1 + spatial] * stride[spatial];
      int64_t total = full + extra[i] - out;
      begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    } else if (autoPad == "VALID") {
      begin = end = 0;
    }
    outPad[2 * spatial] = -begin;
    outPad[2 * spatial + 1] = extra[i] - end;
  }
  int64_t in = nhwc[3] / groups, out = iohw[1];
  mlir::Value bias = biasOf(node, out * groups);
  std::vector<mlir::Value> parts;
  for (int64_t g = 0; g < groups; ++g)
    parts.push_back(
        tosa.transposeConv2d(tosa.sliceAxis(input, 3, g * in, in),
                             tosa.transpose(tosa.sliceAxis(weight, 0, g * in, in), {1, 2, 3, 0}),
                             tosa.sliceAxis(bias, 0, g * out, out), outPad, stride));
  node.setResult(fromChannelsLast(node, tosa.concat(parts, 3), rank));
}

llvm::ArrayRef<Operator> convolutionOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Conv", buildConv},
      {"ConvTranspose", buildConvTranspose},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
