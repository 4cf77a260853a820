// Branches and loops, whose bodies are graphs.
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <fmt/format.h>

namespace tilewright::host {

namespace {

const onnx::Graph &bodyOf(const Call &call, const char *name) {
  const onnx::Graph *body = call.graph(name);
  if (!body)
    call.fail(fmt::format("it has no {}", name));
  return *body;
}

std::vector<Value> runChecked(const Call &call, const onnx::Graph &body,
                              const std::vector<Value> &inputs) {
  if (inputs.size() < body.inputs.size())
    call.fail(fmt::format("its body has {} inputs and gets {}", body.inputs.size(), inputs.size()));
  std::vector<Value> outputs = call.run(body, inputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i])
      call.fail(fmt::format("output {} of its body has no value", i));
  return outputs;
}

bool condition(const Call &call, const Value &value) {
  if (!value.tensor())
    call.fail("its condition is no tensor");
  const Tensor &tensor = *value.tensor();
  if (tensor.elements() != 1)
    call.fail(fmt::format("its condition has the shape {}", formatShape(tensor.shape)));
  return integerAt(tensor, 0) != 0;
}

ConstantTensor scalar(DType type, int64_t value) {
  Tensor tensor = makeTensor(type, {});
  setInteger(tensor, 0, value);
  return std::make_shared<const Tensor>(std::move(tensor));
}

void branch(Call &call) {
  const bool then = condition(call, call.value(0));
  std::vector<Value> outputs =
      runChecked(call, bodyOf(call, then ? "then_branch" : "else_branch"), {});
  for (size_t i = 0; i < outputs.size(); ++i)
    call.set(std::move(outputs[i]), i);
}

// The parts that the runs of a body leave, to be one tensor in the end.
class Stack {
public:
  void add(const Call &call, const Value &value) {
    const ConstantTensor &part = value.tensor();
    if (!part)
      call.fail("its body leaves a part that is no tensor");
    if (!parts_.empty() && (part->shape != parts_[0]->shape || part->dtype != parts_[0]->dtype))
      call.fail(fmt::format("its body leaves parts of the shapes {} and {}",
                            formatShape(parts_[0]->shape), formatShape(part->shape)));
    bytes_ += static_cast<int64_t>(part->bytes.size()) + partOverhead;
    if (bytes_ > maxTensorBytes)
      call.fail(fmt::format("its body leaves more than {} bytes", maxTensorBytes));
    parts_.push_back(part);
  }

  // Without parts, empty as `declared` says.
  Tensor take(const Call &call, int64_t axis, bool reversed, const onnx::GraphValue &declared) {
    if (parts_.empty()) {
      Shape shape = declared.shape.value_or(Shape());
      for (int64_t &size : shape)
        size = std::max<int64_t>(size, 0);
      axis = call.axis(axis, static_cast<int64_t>(shape.size()) + 1);
      shape.insert(shape.begin() + axis, 0);
      return call.make(declared.dtype.value_or(DType::F32), shape);
    }
    if (reversed)
      std::reverse(parts_.begin(), parts_.end());
    Shape shape = parts_[0]->shape;
    axis = call.axis(axis, static_cast<int64_t>(shape.size()) + 1);
    shape.insert(shape.begin() + axis, static_cast<int64_t>(parts_.size()));
    Tensor result = call.make(parts_[0]->dtype, shape);
    const int64_t outer = countBetween(shape, 0, axis);
    const int64_t block = countBetween(shape, axis + 1, shape.size()) * byteSize(result.dtype);
    char *to = result.bytes.data();
    for (int64_t i = 0; i < outer; ++i)
      for (const ConstantTensor &part : parts_)
        to = std::copy_n(part->bytes.data() + i * block, block, to);
    return result;
  }

private:
  std::vector<ConstantTensor> parts_;
  int64_t bytes_ = 0;
};

void loop(Call &call) {
  const onnx::Graph &body = bodyOf(call, "body");
  const int64_t limit = call.has(0) ? call.integerScalar(0, "trip count") : INT64_MAX;
  const size_t carried = std::max<size_t>(call.inputCount(), 2) - 2;
  if (body.outputs.size() < carried + 1)
    call.fail(fmt::format("its body has {} outputs for {} values", body.outputs.size(), carried));
  std::vector<Value> state;
  for (size_t i = 0; i < carried; ++i)
    state.push_back(call.has(i + 2) ? call.value(i + 2) : Value::empty());
  bool goesOn = !call.has(1) || condition(call, call.value(1));
  std::vector<Stack> stacks(body.outputs.size() - carried - 1);
  for (int64_t i = 0; i < limit && goesOn; ++i) {
    std::vector<Value> inputs{scalar(DType::I64, i), scalar(DType::Bool, goesOn)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const std::vector<Value> outputs = runChecked(call, body, inputs);
    goesOn = condition(call, outputs[0]);
    state.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<int64_t>(carried));
    for (size_t j = 0; j < stacks.size(); ++j)
      stacks[j].add(call, outputs[1 + carried + j]);
  }
  for (size_t i = 0; i < carried; ++i)
    call.set(std::move(state[i]), i);
  for (size_t i = 0; i < stacks.size(); ++i)
    call.set(stacks[i].take(call, 0, false, body.outputs[1 + carried + i]), carried + i);
}

// Part `index` of dimension `axis`.
ConstantTensor partOf(const Tensor &tensor, int64_t axis, int64_t index) {
  Shape shape = tensor.shape, strides = rowMajorStrides(shape);
  const int64_t offset = index * strides[axis];
  shape.erase(shape.begin() + axis);
  strides.erase(strides.begin() + axis);
  return std::make_shared<const Tensor>(stridedCopy(tensor, shape, offset, strides));
}

std::vector<int64_t> listOf(const Call &call, const char *name, size_t count) {
  std::vector<int64_t> values = call.integers(name, std::vector<int64_t>(count, 0));
  if (values.size() != count)
    call.fail(fmt::format("{} has {} numbers in place of {}", name, values.size(), count));
  return values;
}

// Runs the body over `inputs`, of which the last `scanned` are taken part by part: the last states,
// and a tensor for each other output of the body.
std::vector<Value> scanned(const Call &call, const onnx::Graph &body,
                           const std::vector<Value> &inputs, size_t scanned,
                           const std::vector<int64_t> &reversed, std::vector<int64_t> axes,
                           std::optional<int64_t> length) {
  const size_t states = inputs.size() - scanned;
  for (size_t i = 0; i < scanned; ++i) {
    if (!inputs[states + i].tensor())
      call.fail("what it scans is no tensor");
    const Shape &shape = inputs[states + i].tensor()->shape;
    axes[i] = call.axis(axes[i], static_cast<int64_t>(shape.size()));
    if (length && *length > shape[axes[i]])
      call.fail(fmt::format("{} parts of {}", *length, formatShape(shape)));
    if (!length)
      length = shape[axes[i]];
  }
  if (body.outputs.size() < states)
    call.fail(fmt::format("its body has {} outputs for {} values", body.outputs.size(), states));
  std::vector<Value> state(inputs.begin(), inputs.begin() + static_cast<int64_t>(states));
  std::vector<Stack> stacks(body.outputs.size() - states);
  for (int64_t step = 0; step < *length; ++step) {
    std::vector<Value> arguments = state;
    for (size_t i = 0; i < scanned; ++i)
      arguments.push_back(
          partOf(*inputs[states + i].tensor(), axes[i], reversed[i] ? *length - 1 - step : step));
    const std::vector<Value> outputs = runChecked(call, body, arguments);
    state.assign(outputs.begin(), outputs.begin() + static_cast<int64_t>(states));
    for (size_t i = 0; i < stacks.size(); ++i)
      stacks[i].add(call, outputs[states + i]);
  }
  const bool old = call.opset() < 9;
  const std::vector<int64_t> outputAxes = old ? std::vector<int64_t>(stacks.size(), 0)
                                              : listOf(call, "scan_output_axes", stacks.size());
  const std::vector<int64_t> backwards =
      old ? outputAxes : listOf(call, "scan_output_directions", stacks.size());
  for (size_t i = 0; i < stacks.size(); ++i)
    state.push_back(std::make_shared<const Tensor>(
        stacks[i].take(call, outputAxes[i], backwards[i] != 0, body.outputs[states + i])));
  return state;
}

// Operator set 8: batches, each with a length of its own, which input 0 may say.
void scanBatches(Call &call, const onnx::Graph &body, size_t count) {
  std::vector<std::vector<Value>> results;
  if (call.inputCount() < 1 + count || count == 0)
    call.fail(fmt::format("{} inputs to scan", count));
  checkRank(call, call.inputCount() - 1, 2);
  const int64_t batch = call.shape(call.inputCount() - 1)[0];
  const std::vector<int64_t> reversed = listOf(call, "directions", count);
  std::vector<Stack> stacks(body.outputs.size());
  for (int64_t i = 0; i < batch; ++i) {
    std::vector<Value> inputs;
    for (size_t j = 1; j < call.inputCount(); ++j) {
      checkRank(call, j, 1);
      if (call.shape(j)[0] != batch)
        call.fail(fmt::format("batches of {} and {}", batch, call.shape(j)[0]));
      inputs.push_back(partOf(call.input(j), 0, i));
    }
    std::optional<int64_t> length;
    if (call.has(0))
      length = call.integers(0, "sequence_lens")[checkedIndex(call, i, call.input(0).elements())];
    const std::vector<Value> outputs =
        scanned(call, body, inputs, count, reversed, std::vector<int64_t>(count, 0), length);
    for (size_t j = 0; j < outputs.size(); ++j)
      stacks[j].add(call, outputs[j]);
  }
  for (size_t j = 0; j < stacks.size(); ++j)
    call.set(stacks[j].take(call, 0, false, body.outputs[j]), j);
}

void scan(Call &call) {
  const onnx::Graph &body = bodyOf(call, "body");
  const int64_t given = call.integer("num_scan_inputs", 1);
  if (given < 1 || given > static_cast<int64_t>(call.inputCount()))
    call.fail(fmt::format("num_scan_inputs is {}", given));
  const size_t count = static_cast<size_t>(given);
  if (call.opset() < 9)
    return scanBatches(call, body, count);
  std::vector<Value> inputs;
  for (size_t i = 0; i < call.inputCount(); ++i)
    inputs.push_back(call.value(i));
  std::vector<Value> outputs =
      scanned(call, body, inputs, count, listOf(call, "scan_input_directions", count),
              listOf(call, "scan_input_axes", count), std::nullopt);
  for (size_t i = 0; i < outputs.size(); ++i)
    call.set(std::move(outputs[i]), i);
}

} // namespace

KernelTable controlFlowKernels() { return {{"If", branch}, {"Loop", loop}, {"Scan", scan}}; }

} // namespace tilewright::host
