// Operators that compute with others.
#pragma once

#include "elementwise.h"
#include "tilewright/host/execution.h"

namespace tilewright::host {

// The first result of an operator of ai.onnx on `inputs`, for which the call's own stands in
// errors; of this operator set, or of the model's.
inline ConstantTensor apply(const Call &call, const char *op, std::vector<ConstantTensor> inputs,
                            std::map<std::string, onnx::Attribute> attributes = {},
                            int64_t opset = 0) {
  onnx::Node node;
  node.name = call.node().name;
  node.op = op;
  for (const ConstantTensor &input : inputs)
    node.inputs.push_back(input ? "input" : "");
  node.outputs = {"output"};
  node.attributes = std::move(attributes);
  return run(node, opset > 0 ? opset : call.opset(), call.location(), std::move(inputs)).front();
}

inline ConstantTensor shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

} // namespace tilewright::host
