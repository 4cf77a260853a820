// Gathering by indices that are not known at import.
#pragma once

#include "node_importer.h"

namespace tilewright::onnx_import {

// Result position i along `axis` is the position that element i of input 1 names: a product with a
// matrix that has a one there, or a sum of what is chosen.
mlir::Value gatherByComparison(NodeImporter &node, int64_t axis);

} // namespace tilewright::onnx_import
