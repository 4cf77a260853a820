// Operators on quantized tensors as operators on reals between DequantizeLinear and QuantizeLinear:
// the importer knows one form of a quantized model.
#pragma once

#include "tilewright/onnx/model.h"
#include "tilewright/support/error.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace tilewright::onnx_import {

struct QuantizedForm {
  std::vector<onnx::Node> nodes; // in place of the one; with the inputs and outputs that it has
  std::map<std::string, onnx::ConstantTensor> constants; // of which they read some
  int64_t opset = 0;       // of ai.onnx, by which they mean what they do; 0: the model's
  bool yieldsSums = false; // integers of 32 bits, which the reals stand for as they are
};

// The integers that a DynamicQuantizeLinear gives (their names) which something reads otherwise
// than as the reals that they stand for: products of them and their zero point that their scale is
// multiplied with again, or DequantizeLinear.
std::set<std::string> dynamicIntegersOf(const onnx::Graph &graph);

bool hasQuantizedForm(const std::string &op, const std::string &domain);
// Of such a node. `constant` gives what is known of a value at import, or null. Throws UserError.
QuantizedForm
quantizedFormOf(const onnx::Node &node, int64_t opset, const SourceLocation &location,
                const std::function<onnx::ConstantTensor(const std::string &)> &constant);

} // namespace tilewright::onnx_import
