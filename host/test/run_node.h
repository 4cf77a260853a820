// Runs single nodes in tests.
#pragma once

#include "tilewright/host/elements.h"
#include "tilewright/host/execution.h"

#include <gtest/gtest.h>

namespace tilewright::host {

using Attributes = std::map<std::string, onnx::Attribute>;
using Inputs = std::vector<ConstantTensor>;

inline ConstantTensor tensorOf(DType type, Shape shape, const std::vector<double> &values) {
  Tensor tensor = makeTensor(type, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    isFloat(type) ? setFloat(tensor, static_cast<int64_t>(i), values[i])
                  : setInteger(tensor, static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
  return std::make_shared<const Tensor>(std::move(tensor));
}

inline ConstantTensor floats(Shape shape, const std::vector<double> &values) {
  return tensorOf(DType::F32, std::move(shape), values);
}

inline ConstantTensor list(const std::vector<double> &values) {
  return tensorOf(DType::I64, {static_cast<int64_t>(values.size())}, values);
}

inline std::vector<ConstantTensor> runNode(const std::string &op, Inputs inputs,
                                           Attributes attributes = {}, int64_t opset = 21,
                                           size_t outputs = 1) {
  onnx::Node node;
  node.name = "n";
  node.op = op;
  for (const ConstantTensor &input : inputs)
    node.inputs.push_back(input ? "x" : "");
  node.outputs.assign(outputs, "y");
  node.attributes = std::move(attributes);
  return run(node, opset, SourceLocation{"model.onnx", 0, 0, node.describe()}, std::move(inputs));
}

inline std::vector<double> valuesOf(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    values.push_back(floatAt(tensor, i));
  return values;
}

inline std::string errorOf(const std::string &op, Inputs inputs, Attributes attributes = {},
                           int64_t opset = 21) {
  try {
    runNode(op, std::move(inputs), std::move(attributes), opset);
  } catch (const UserError &error) {
    return error.what();
  }
  return "none";
}

} // namespace tilewright::host
