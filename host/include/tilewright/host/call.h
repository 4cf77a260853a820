// What the implementation of one ONNX operator on the host sees: attributes, inputs of any type and
// shape, and where its results go.
#pragma once

#include "tilewright/onnx/node_view.h"

#include <functional>

namespace tilewright::host {

using onnx::ConstantTensor;

// Computes a body of an If, a Loop or a Scan on its inputs, in their order.
using RunBody = std::function<std::vector<ConstantTensor>(
    const onnx::Graph &body, const std::vector<ConstantTensor> &inputs)>;

class Call : public onnx::NodeView {
public:
  // `inputs` are null where an optional one is left out.
  Call(const onnx::Node &node, int64_t opset, SourceLocation location,
       std::vector<ConstantTensor> inputs, RunBody runBody = nullptr);

  bool has(size_t input) const { return input < inputs_.size() && inputs_[input]; }
  const Tensor &input(size_t input) const { return *shared(input); }
  const ConstantTensor &shared(size_t input) const; // to be passed on as it is
  const Shape &shape(size_t input) const { return this->input(input).shape; }
  int64_t rank(size_t input) const { return static_cast<int64_t>(shape(input).size()); }

  // All elements of an input, of any type. `what` names it in the error for more than one
  // dimension.
  using NodeView::integers;
  std::vector<int64_t> integers(size_t input, const char *what) const;
  // The only element of an input.
  int64_t integerScalar(size_t input, const char *what) const;
  double scalar(size_t input, const char *what) const;

  // An element type that an attribute gives by its number.
  DType type(const std::string &attribute, DType fallback) const;

  void set(Tensor tensor, size_t output = 0);
  void set(ConstantTensor tensor, size_t output = 0);
  // Zeros, to be filled. Fails when it would take more than maxTensorBytes.
  Tensor make(DType type, Shape shape) const;

  std::vector<ConstantTensor> run(const onnx::Graph &body,
                                  const std::vector<ConstantTensor> &inputs) const {
    return runBody_(body, inputs);
  }

  // One for each output of the node; null where nothing was set.
  std::vector<ConstantTensor> takeResults() { return std::move(results_); }

private:
  std::vector<ConstantTensor> inputs_, results_;
  RunBody runBody_;
};

} // namespace tilewright::host
