#include "tilewright/host/execution.h"

#include "tilewright/host/kernels.h"

#include <fmt/format.h>
#include <set>

namespace tilewright::host {

namespace {

// The values of a graph, and behind them those of the graph around it.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer_(outer) {}

  void set(const std::string &name, Value value) { values_[name] = std::move(value); }
  void drop(const std::string &name) { values_.erase(name); }
  Value find(const std::string &name) const {
    auto found = values_.find(name);
    if (found != values_.end())
      return found->second;
    return outer_ ? outer_->find(name) : nullptr;
  }
  std::map<std::string, Value> &values() { return values_; }

private:
  std::map<std::string, Value> values_;
  const Scope *outer_;
};

// How often bodies may run in one run of a model: a loop may have no end, and loops stand in loops.
constexpr int64_t mostBodies = int64_t(1) << 20;

class GraphRun {
public:
  // `bodies` counts the bodies that were run so far.
  GraphRun(const onnx::Graph &graph, int64_t opset, const std::string &path, const Scope *outer,
           int64_t &bodies)
      : graph_(graph), opset_(opset), path_(path), scope_(outer), bodies_(bodies) {
    for (const auto &[name, tensor] : graph.initializers)
      scope_.set(name, tensor);
  }

  void bind(const std::string &name, Value value) { scope_.set(name, std::move(value)); }

  void run() {
    for (const onnx::Node &node : graph_.nodes)
      run(node);
  }

  std::vector<Value> outputs() const {
    std::vector<Value> results;
    for (const onnx::GraphValue &output : graph_.outputs)
      results.push_back(scope_.find(output.name));
    return results;
  }

  std::map<std::string, Value> &values() { return scope_.values(); }

private:
  void run(const onnx::Node &node) {
    SourceLocation location{path_, 0, 0, node.describe()};
    std::vector<Value> inputs;
    for (const std::string &input : node.inputs) {
      inputs.push_back(input.empty() ? nullptr : scope_.find(input));
      if (!input.empty() && !inputs.back())
        throw UserError(location, fmt::format("its input '{}' has no value", escape(input)));
    }
    const Kernel *kernel = findKernel(node.op, node.domain);
    if (!kernel)
      throw UserError(location, fmt::format("operator {} is not supported", escape(node.op)));
    Call call(node, opset_, location, std::move(inputs),
              [&](const onnx::Graph &body, const std::vector<Value> &arguments) {
                if (++bodies_ > mostBodies)
                  throw UserError(location, fmt::format("bodies ran {} times", mostBodies));
                return runBody(body, arguments);
              });
    kernel->run(call);
    std::vector<Value> results = call.takeResults();
    for (size_t i = 0; i < results.size(); ++i)
      if (!node.outputs[i].empty())
        scope_.set(node.outputs[i], std::move(results[i]));
  }

  std::vector<Value> runBody(const onnx::Graph &body, const std::vector<Value> &arguments) {
    GraphRun inner(body, opset_, path_, &scope_, bodies_);
    for (size_t i = 0; i < body.inputs.size() && i < arguments.size(); ++i)
      inner.bind(body.inputs[i].name, arguments[i]);
    inner.run();
    return inner.outputs();
  }

  const onnx::Graph &graph_;
  int64_t opset_;
  const std::string &path_;
  Scope scope_;
  int64_t &bodies_;
};

void bindInputs(GraphRun &graph, const onnx::Model &model, const std::string &path,
                const std::map<std::string, Value> &inputs) {
  for (const onnx::GraphValue &input : model.inputs) {
    SourceLocation location{path, 0, 0, fmt::format("input '{}'", escape(input.name))};
    auto found = inputs.find(input.name);
    if (found == inputs.end())
      throw UserError(location, "the input is missing");
    if (!found->second.tensor()) {
      if (input.type != "sequence" && input.type != "optional")
        throw UserError(location, "should be a tensor");
      graph.bind(input.name, found->second);
      continue;
    }
    const Tensor &tensor = *found->second.tensor();
    if (input.dtype && tensor.dtype != *input.dtype)
      throw UserError(location, fmt::format("is of {}, and the model takes {}", name(tensor.dtype),
                                            name(*input.dtype)));
    bool fits = !input.shape || input.shape->size() == tensor.shape.size();
    for (size_t i = 0; fits && input.shape && i < tensor.shape.size(); ++i)
      fits = (*input.shape)[i] == onnx::dynamicDimension || (*input.shape)[i] == tensor.shape[i];
    if (!fits)
      throw UserError(location, fmt::format("has the shape {}, and the model takes {}",
                                            formatShape(tensor.shape), formatShape(*input.shape)));
    graph.bind(input.name, found->second);
  }
}

std::vector<ConstantTensor> tensorsOf(const std::vector<Value> &values,
                                      const SourceLocation &location) {
  std::vector<ConstantTensor> tensors;
  for (const Value &value : values) {
    if (value && !value.tensor())
      throw UserError(location, "results that are no tensors are not supported here");
    tensors.push_back(value.tensor());
  }
  return tensors;
}

} // namespace

std::vector<Value> runValues(const onnx::Model &model, const std::string &path,
                             const std::map<std::string, Value> &inputs) {
  int64_t bodies = 0;
  GraphRun graph(model, model.opset, path, nullptr, bodies);
  bindInputs(graph, model, path, inputs);
  graph.run();
  return graph.outputs();
}

std::vector<ConstantTensor> run(const onnx::Model &model, const std::string &path,
                                const std::map<std::string, ConstantTensor> &inputs) {
  return tensorsOf(runValues(model, path, {inputs.begin(), inputs.end()}), {path, 0, 0, ""});
}

std::map<std::string, ConstantTensor> runAll(const onnx::Model &model, const std::string &path,
                                             const std::map<std::string, ConstantTensor> &inputs) {
  int64_t bodies = 0;
  GraphRun graph(model, model.opset, path, nullptr, bodies);
  bindInputs(graph, model, path, {inputs.begin(), inputs.end()});
  graph.run();
  std::map<std::string, ConstantTensor> tensors;
  for (const auto &[name, value] : graph.values())
    if (value.tensor())
      tensors[name] = value.tensor();
  return tensors;
}

std::vector<ConstantTensor> run(const onnx::Node &node, int64_t opset,
                                const SourceLocation &location, std::vector<ConstantTensor> inputs,
                                int64_t limitBytes) {
  const Kernel *kernel = findKernel(node.op, node.domain);
  if (!kernel)
    throw UserError(location, fmt::format("operator {} is not supported", escape(node.op)));
  Call call(node, opset, location, {inputs.begin(), inputs.end()});
  call.limitBytes(limitBytes);
  kernel->run(call);
  return tensorsOf(call.takeResults(), location);
}

} // namespace tilewright::host
