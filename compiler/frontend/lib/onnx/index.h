// Indices: those that are known at import, and gathering by those that are not.
#pragma once

#include "node_importer.h"

namespace tilewright::onnx_import {

// Result position i along `axis` is the position that element i of input 1 names: a product with a
// matrix that has a one there, or a sum of what is chosen.
mlir::Value gatherByComparison(NodeImporter &node, int64_t axis);

// The known indices of an input, called `what`, into a dimension of `length`; those below 0 count
// from its end.
std::vector<int64_t> indicesOf(NodeImporter &node, size_t input, const char *what, int64_t length);

} // namespace tilewright::onnx_import
