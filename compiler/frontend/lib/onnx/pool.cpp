// Pools.
#include "operators.h"
#include "window.h"

namespace tilewright::onnx_import {

static void buildMaxPool(NodeImporter &node) {
  node.flag("storage_order", false); // of the indices, which are not supported
  int64_t rank = node.rank(0);
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  Window window = makeWindow(node, sizesOf(input), kernelShape(node, rank - 2), rank - 2);
  for (int i : {0, 1}) {
    if (window.dilation[i] != 1)
      node.refuse("a dilated pool is not supported");
    if (window.padBegin[i] >= window.kernel[i] || window.padEnd[i] >= window.kernel[i])
      node.refuse("pads are not smaller than the kernel");
  }
  node.setResult(fromChannelsLast(node, node.tosa().maxPool2d(input, window), rank));
}

static void buildAveragePool(NodeImporter &node) {
  int64_t rank = node.rank(0);
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  Window window = makeWindow(node, sizesOf(input), kernelShape(node, rank - 2), rank - 2);
  for (int i : {0, 1})
    if (window.dilation[i] != 1)
      node.refuse("a dilated pool is not supported");
  bool padded = window.padBegin != std::array<int64_t, 2>{0, 0} ||
                window.padEnd != std::array<int64_t, 2>{0, 0};
  if (padded && node.flag("count_include_pad", false)) {
    // TOSA's pool counts no pads, so those that count become part of the input; what ceil_mode
    // added never counts.
    std::vector<int64_t> pads = node.integers("pads", {});
    Shape before = {0, window.padBegin[0], window.padBegin[1], 0}, after = {0, 0, 0, 0};
    for (int64_t i = 0; i < 2; ++i) {
      int64_t dimension = i - (4 - rank);
      int64_t own = window.padEnd[i];
      if (dimension >= 0 && !pads.empty())
        own = std::min(own, pads[rank - 2 + dimension]);
      after[1 + i] = own;
      window.padBegin[i] = 0;
      window.padEnd[i] -= own;
    }
    input = node.tosa().pad(input, before, after, 0);
  }
  for (int i : {0, 1})
    if (window.padBegin[i] >= window.kernel[i] || window.padEnd[i] >= window.kernel[i])
      node.refuse("pads are not smaller than the kernel");
  node.setResult(fromChannelsLast(node, node.tosa().averagePool2d(input, window), rank));
}

static Window wholeImage(llvm::ArrayRef<int64_t> nhwc) {
  Window window;
  window.kernel = {nhwc[1], nhwc[2]};
  window.output = {1, 1};
  return window;
}

static void buildGlobalAveragePool(NodeImporter &node) {
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  mlir::Value output = averageImage(node, input);
  node.setResult(fromChannelsLast(node, output, node.rank(0)));
}

static void buildGlobalMaxPool(NodeImporter &node) {
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  mlir::Value output = node.tosa().maxPool2d(input, wholeImage(sizesOf(input)));
  node.setResult(fromChannelsLast(node, output, node.rank(0)));
}

llvm::ArrayRef<Operator> poolOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"AveragePool", buildAveragePool},
      {"GlobalAveragePool", buildGlobalAveragePool},
      {"GlobalMaxPool", buildGlobalMaxPool},
      {"MaxPool", buildMaxPool},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import
