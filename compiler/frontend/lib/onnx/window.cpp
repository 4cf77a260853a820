#include "window.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include "tilewright/compiler/tosa/limits.h"
#include "tilewright/onnx/size_limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::onnx_import {

// Between the model's order of elements and TOSA's.
static mlir::Value changeLayout(NodeImporter &node, mlir::Value value,
                                llvm::ArrayRef<int32_t> permutation) {
  mlir::Value changed = node.tosa().transpose(value, permutation);
  mlir::Operation *transpose = changed.getDefiningOp();
  transpose->setLoc(layoutLocation(transpose->getLoc()));
  return changed;
}

mlir::Value toChannelsLast(NodeImporter &node, mlir::Value input) {
  Shape shape = sizesOf(input);
  if (shape.size() != 3 && shape.size() != 4)
    node.refuse(
        fmt::format("an input of shape {} is not supported: only images (NCHW) and rows (NCW) are",
                    formatShape(shape)));
  if (shape.size() == 3)
    input = node.tosa().reshape(input, {shape[0], shape[1], 1, shape[2]});
  return changeLayout(node, input, {0, 2, 3, 1});
}

mlir::Value fromChannelsLast(NodeImporter &node, mlir::Value output, int64_t rank) {
  mlir::Value result = changeLayout(node, output, {0, 3, 1, 2});
  Shape shape = sizesOf(result);
  return rank == 3 ? node.tosa().reshape(result, {shape[0], shape[1], shape[3]}) : result;
}

std::array<int64_t, 2> spatialPair(NodeImporter &node, const std::string &attribute,
                                   int64_t fallback, int64_t spatialRank) {
  std::vector<int64_t> values =
      node.integers(attribute, std::vector<int64_t>(spatialRank, fallback));
  if (static_cast<int64_t>(values.size()) != spatialRank)
    node.fail(fmt::format("attribute '{}' has {} values for {} spatial dimensions", attribute,
                          values.size(), spatialRank));
  for (int64_t value : values)
    if (value < 1 || value > maxTensorBytes)
      node.fail(fmt::format("attribute '{}' holds {}", attribute, value));
  return spatialRank == 1 ? std::array<int64_t, 2>{1, values[0]}
                          : std::array<int64_t, 2>{values[0], values[1]};
}

std::array<int64_t, 2> kernelShape(NodeImporter &node, int64_t spatialRank) {
  return spatialPair(node, "kernel_shape", 1, spatialRank);
}

static void readPads(NodeImporter &node, int64_t spatialRank, Window &window) {
  std::vector<int64_t> pads = node.integers("pads", std::vector<int64_t>(2 * spatialRank, 0));
  if (static_cast<int64_t>(pads.size()) != 2 * spatialRank)
    node.fail(fmt::format("attribute 'pads' has {} values for {} spatial dimensions", pads.size(),
                          spatialRank));
  for (int64_t pad : pads)
    if (pad < 0 || pad > maxTensorBytes)
      node.fail(fmt::format("attribute 'pads' holds {}", pad));
  for (int64_t i = 0; i < spatialRank; ++i) {
    window.padBegin[2 - spatialRank + i] = pads[i];
    window.padEnd[2 - spatialRank + i] = pads[spatialRank + i];
  }
}

std::string autoPadOf(NodeImporter &node) {
  std::string autoPad = node.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  // Of a model with both, one reader takes the pads and another computes them.
  const std::vector<int64_t> pads = node.integers("pads", {});
  bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
  if (autoPad != "NOTSET" && !pads.empty() && (padded || autoPad != "VALID"))
    node.fail(fmt::format("attributes 'pads' and 'auto_pad' ({}) contradict each other", autoPad),
              "leave one of them out");
  return autoPad;
}

Window makeWindow(NodeImporter &node, llvm::ArrayRef<int64_t> nhwc, std::array<int64_t, 2> kernel,
                  int64_t spatialRank) {
  Window window;
  window.kernel = kernel;
  window.stride = spatialPair(node, "strides", 1, spatialRank);
  window.dilation = spatialPair(node, "dilations", 1, spatialRank);
  std::string autoPad = autoPadOf(node);
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (autoPad == "NOTSET")
    readPads(node, spatialRank, window);
  bool ceil = node.flag("ceil_mode", false);

  for (int i : {0, 1}) {
    int64_t in = nhwc[1 + i], stride = window.stride[i];
    int64_t reach = (kernel[i] - 1) * window.dilation[i] + 1;
    if (kernel[i] > maxTensorBytes / window.dilation[i])
      node.fail("kernel times dilation is too large");
    if (same) {
      int64_t out = (in + stride - 1) / stride;
      int64_t total = std::max<int64_t>((out - 1) * stride + reach - in, 0);
      window.padBegin[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.padEnd[i] = total - window.padBegin[i];
    }
    int64_t span = in + window.padBegin[i] + window.padEnd[i] - reach;
    if (span < 0)
      node.fail(fmt::format("the window of {} is larger than the padded input of {}", reach,
                            span + reach));
    int64_t rest = span % stride;
    window.output[i] = span / stride + 1;
    // With ceil_mode a window more, unless it would start in the pads behind the input.
    if (ceil && rest != 0 && window.output[i] * stride < in + window.padBegin[i]) {
      window.padEnd[i] += stride - rest;
      ++window.output[i];
    } else {
      int64_t unused = std::min(rest, window.padEnd[i]);
      window.padEnd[i] -= unused;
      window.crop[i] = rest - unused;
    }
  }
  return window;
}

mlir::Value averageImage(NodeImporter &node, mlir::Value input) {
  Shape shape = sizesOf(input);
  if (shape[1] <= maxKernel && shape[2] <= maxKernel) {
    Window window;
    window.kernel = {shape[1], shape[2]};
    window.output = {1, 1};
    return node.tosa().averagePool2d(input, window);
  }
  mlir::Value sum = node.tosa().reduce<mlir::tosa::ReduceSumOp>(input, 1);
  sum = node.tosa().reduce<mlir::tosa::ReduceSumOp>(sum, 2);
  return node.tosa().multiplyScalar(sum, 1.0f / static_cast<float>(shape[1] * shape[2]));
}

} // namespace tilewright::onnx_import
