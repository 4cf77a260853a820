// Sliding windows: from ONNX's attributes to what TOSA's convolutions and pools take.
#pragma once

#include "node_importer.h"

namespace tilewright::onnx_import {

// `input` (NCHW, or NCW as one row) as NHWC; and back into the layout and rank that the model has.
mlir::Value toChannelsLast(NodeImporter &node, mlir::Value input);
mlir::Value fromChannelsLast(NodeImporter &node, mlir::Value output, int64_t rank);

// One or two values of an attribute for the two spatial dimensions; `fallback` for a missing
// attribute, and for the first dimension of one-dimensional windows.
std::array<int64_t, 2> spatialPair(NodeImporter &node, const std::string &attribute,
                                   int64_t fallback, int64_t spatialRank);
// The kernel_shape attribute.
std::array<int64_t, 2> kernelShape(NodeImporter &node, int64_t spatialRank);

// The auto_pad attribute, which stands alone or is NOTSET.
std::string autoPadOf(NodeImporter &node);

// The window of `kernel` over an NHWC input, with the node's strides, dilations, pads or auto_pad,
// and ceil_mode. Pads at the end that no window reaches are left out, and rows and columns that
// none reaches are cropped.
Window makeWindow(NodeImporter &node, llvm::ArrayRef<int64_t> nhwc, std::array<int64_t, 2> kernel,
                  int64_t spatialRank);

// The mean over the rows and columns of an NHWC tensor, as [N, 1, 1, C].
mlir::Value averageImage(NodeImporter &node, mlir::Value input);

} // namespace tilewright::onnx_import
