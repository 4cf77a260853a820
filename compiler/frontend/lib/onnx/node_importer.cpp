#include "node_importer.h"

#include "tilewright/onnx/schema.h"
#include "tilewright/onnx/size_limits.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <stdexcept>

namespace tilewright::onnx_import {

NodeImporter::NodeImporter(const Node &node, int64_t opset, const SourceLocation &location,
                           ValueMap &values, FloatBuilder &builder)
    : NodeView(node, opset, location), values_(values), tosa_(builder) {}

const Operand &NodeImporter::operand(size_t input) const {
  auto found = has(input) ? values_.find(node().inputs[input]) : values_.end();
  if (found == values_.end())
    throw std::logic_error(fmt::format("{} has no input {}", node().describe(), input));
  return found->second;
}

mlir::Value NodeImporter::value(size_t input) {
  const Operand &found = operand(input);
  if (found.value)
    return found.value;
  checkFinite(*found.constant, input);
  mlir::Value value = tosa_.constant(*found.constant);
  values_[node().inputs[input]].value = value;
  return value;
}

DType NodeImporter::type(size_t input) const {
  const Operand &found = operand(input);
  return found.constant ? found.constant->dtype : found.type;
}

mlir::Value NodeImporter::floatValue(size_t input) {
  mlir::Value result = value(input);
  if (!mlir::getElementTypeOrSelf(result).isF32())
    refuse(fmt::format("input '{}' is of {}; only floats are computed with",
                       escape(node().inputs[input]), name(type(input))));
  return result;
}

mlir::Value NodeImporter::boolValue(size_t input) {
  mlir::Value result = value(input);
  if (type(input) != DType::Bool)
    fail(fmt::format("input '{}' is of {}, and should be of bool", escape(node().inputs[input]),
                     name(type(input))));
  return result;
}

mlir::Value NodeImporter::maskedValue(size_t input) {
  const Operand &found = operand(input);
  if (found.value || found.constant->dtype != DType::F32)
    return floatValue(input);
  constexpr float least = -std::numeric_limits<float>::infinity();
  Tensor finite = *found.constant;
  float *const begin = finite.data<float>(), *const end = begin + finite.elements();
  if (std::find(begin, end, least) == end)
    return floatValue(input);
  std::replace(begin, end, least, std::numeric_limits<float>::lowest() / 4);
  checkFinite(finite, input);
  return tosa_.constant(finite);
}

mlir::Value NodeImporter::floatValue(size_t input, const Shape &shape) {
  const Operand &found = operand(input);
  if (found.value || found.constant->dtype != DType::F32)
    return tosa_.reshape(floatValue(input), shape);
  checkFinite(*found.constant, input);
  return tosa_.constant(shape, llvm::ArrayRef(found.constant->data<float>(),
                                              found.constant->bytes.size() / sizeof(float)));
}

const Tensor *NodeImporter::constant(size_t input) const { return operand(input).constant.get(); }

const Tensor &NodeImporter::known(size_t input, const char *what) const {
  const Tensor *tensor = constant(input);
  if (!tensor)
    refuse(
        fmt::format("its {}, '{}', depends on the data: only values that are known at import are "
                    "supported",
                    what, escape(node().inputs[input])));
  return *tensor;
}

void NodeImporter::checkFinite(const Tensor &tensor, size_t input) const {
  const std::optional<int64_t> found = firstNotFinite(tensor);
  if (!found)
    return;
  Shape index(tensor.shape.size());
  int64_t rest = *found;
  for (size_t i = index.size(); i-- > 0; rest /= tensor.shape[i])
    index[i] = rest % tensor.shape[i];
  fail(fmt::format("input '{}' holds {} at [{}]; only finite numbers are computed with",
                   escape(node().inputs[input]), floatAt(tensor, *found), fmt::join(index, ", ")),
       "repair the model, or export it again");
}

void NodeImporter::checkVector(size_t input, const char *what) const {
  if (rank(input) != 1)
    fail(fmt::format("its {}, '{}', should be a list, and has the shape {}", what,
                     escape(node().inputs[input]), formatShape(shape(input))));
}

void NodeImporter::checkScalar(size_t input, const char *what) const {
  Shape given = shape(input);
  if (!given.empty() && given != Shape{1})
    fail(fmt::format("its {}, '{}', should be one number, and has the shape {}", what,
                     escape(node().inputs[input]), formatShape(given)));
}

std::vector<int64_t> NodeImporter::integers(size_t input, const char *what) const {
  const Tensor &tensor = known(input, what);
  checkVector(input, what);
  std::vector<int64_t> values(tensor.elements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = integerAt(tensor, static_cast<int64_t>(i));
  return values;
}

std::vector<float> NodeImporter::floats(size_t input, const char *what) const {
  const Tensor &tensor = known(input, what);
  checkVector(input, what);
  checkFinite(tensor, input);
  std::vector<float> values(tensor.elements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(floatAt(tensor, static_cast<int64_t>(i)));
  return values;
}

float NodeImporter::scalar(size_t input, const char *what) const {
  const Tensor &tensor = known(input, what);
  checkScalar(input, what);
  checkFinite(tensor, input);
  return static_cast<float>(floatAt(tensor, 0));
}

void NodeImporter::setResult(const Operand &operand, size_t output) {
  if (output < node().outputs.size() && !node().outputs[output].empty())
    values_[node().outputs[output]] = operand;
}

// That of an input whose type is the same in the operator's schema; indices are of int64.
DType NodeImporter::resultType(size_t output) const {
  const Schema &schema = *schemasOf(node().op).at(opset());
  const std::string_view type = parameterAt(schema.outputs, output).type;
  for (size_t i = 0; i < inputCount(); ++i)
    if (has(i) && parameterAt(schema.inputs, i).type == type)
      return this->type(i);
  return DType::I64;
}

void NodeImporter::setResult(mlir::Value value, size_t output) {
  const mlir::Type element = mlir::getElementTypeOrSelf(value);
  setResult(value,
            element.isF32()        ? DType::F32
            : element.isInteger(1) ? DType::Bool
                                   : resultType(output),
            output);
}

void NodeImporter::setResult(mlir::Value value, DType type, size_t output) {
  setResult(Operand{nullptr, value, type}, output);
}

void NodeImporter::setResult(Tensor tensor, size_t output) {
  setResult(Operand{std::make_shared<const Tensor>(std::move(tensor)), {}}, output);
}

} // namespace tilewright::onnx_import
