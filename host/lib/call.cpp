#include "tilewright/host/call.h"

#include "tilewright/host/elements.h"

#include <fmt/format.h>

namespace tilewright::host {

Call::Call(const onnx::Node &node, int64_t opset, SourceLocation location,
           std::vector<Value> inputs, RunBody runBody)
    : NodeView(node, opset, std::move(location)), inputs_(std::move(inputs)),
      results_(node.outputs.size()), runBody_(std::move(runBody)) {}

const Value &Call::value(size_t input) const {
  if (!has(input))
    fail(fmt::format("input {} is missing", input));
  return inputs_[input];
}

const ConstantTensor &Call::shared(size_t input) const {
  const ConstantTensor &tensor = value(input).tensor();
  if (!tensor)
    fail(fmt::format("input {} is a sequence, and should be a tensor", input));
  return tensor;
}

const Sequence &Call::sequence(size_t input) const {
  const Sequence *sequence = value(input).sequence();
  if (!sequence)
    fail(fmt::format("input {} is a tensor, and should be a sequence", input));
  return *sequence;
}

std::vector<int64_t> Call::integers(size_t input, const char *what) const {
  const Tensor &tensor = this->input(input);
  if (tensor.shape.size() > 1)
    fail(fmt::format("its {}, '{}', should be a list, and has the shape {}", what,
                     escape(node().inputs[input]), formatShape(tensor.shape)));
  std::vector<int64_t> values(tensor.elements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = integerAt(tensor, static_cast<int64_t>(i));
  return values;
}

int64_t Call::integerScalar(size_t input, const char *what) const {
  scalar(input, what);
  return integerAt(this->input(input), 0);
}

double Call::scalar(size_t input, const char *what) const {
  const Tensor &tensor = this->input(input);
  if (tensor.elements() != 1 || tensor.shape.size() > 1)
    fail(fmt::format("its {}, '{}', should be one number, and has the shape {}", what,
                     escape(node().inputs[input]), formatShape(tensor.shape)));
  return floatAt(tensor, 0);
}

DType Call::type(const std::string &attribute, DType fallback) const {
  if (!hasAttribute(attribute))
    return fallback;
  std::optional<DType> type = onnx::dtypeOf(integer(attribute, 0));
  if (!type)
    fail(fmt::format("attribute '{}' is no type of numbers", attribute));
  return *type;
}

void Call::set(Tensor tensor, size_t output) {
  checkSize(tensor.dtype, tensor.shape);
  set(std::make_shared<const Tensor>(std::move(tensor)), output);
}

void Call::set(Value value, size_t output) {
  if (output < results_.size())
    results_[output] = std::move(value);
}

void Call::checkSize(DType type, const Shape &shape) const {
  if (static_cast<int64_t>(shape.size()) > maxRank)
    fail(fmt::format("a tensor of {} dimensions arises", shape.size()));
  for (int64_t dim : shape)
    if (dim < 0)
      fail(fmt::format("a dimension of {} arises", dim));
  if (!fitsTensor(shape, byteSize(type)) || elementCount(shape) * byteSize(type) > limitBytes_)
    fail(fmt::format("a tensor of shape {} arises, which is larger than {} bytes",
                     formatShape(shape), limitBytes_));
}

Tensor Call::make(DType type, Shape shape) const {
  checkSize(type, shape);
  return makeTensor(type, std::move(shape));
}

} // namespace tilewright::host
