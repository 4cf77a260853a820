// Runs an ONNX graph on the host, node by node: tensors of any type, shapes that depend on data,
// branches and loops. The operators' definitions (onnx.ai) are the semantics.
#pragma once

#include "tilewright/host/call.h"

#include <map>

namespace tilewright::host {

// The outputs of `model` in their order. Throws UserError for an input that is missing or of
// another type or shape than the model says, and for a node that cannot be computed.
std::vector<ConstantTensor> run(const onnx::Model &model, const std::string &path,
                                const std::map<std::string, ConstantTensor> &inputs);

// The same with sequences and optionals among inputs and outputs.
std::vector<Value> runValues(const onnx::Model &model, const std::string &path,
                             const std::map<std::string, Value> &inputs);

// Every tensor that the model computes from `inputs`, by name.
std::map<std::string, ConstantTensor> runAll(const onnx::Model &model, const std::string &path,
                                             const std::map<std::string, ConstantTensor> &inputs);

// One node on its inputs, null where they are left out: one result for each output. It holds no
// graph. Throws UserError where it cannot be computed, and where a result takes more than
// `limitBytes`.
std::vector<ConstantTensor> run(const onnx::Node &node, int64_t opset,
                                const SourceLocation &location, std::vector<ConstantTensor> inputs,
                                int64_t limitBytes = maxTensorBytes);

} // namespace tilewright::host
