// What the implementation of one ONNX operator on the host sees: attributes, inputs of any type and
// shape, and where its results go.
#pragma once

#include "tilewright/onnx/node_view.h"
#include "tilewright/onnx/value.h"

#include <functional>

namespace tilewright::host {

using onnx::ConstantTensor;
using onnx::Sequence;
using onnx::Value;

// Computes a body of an If, a Loop or a Scan on its inputs, in their order.
using RunBody =
    std::function<std::vector<Value>(const onnx::Graph &body, const std::vector<Value> &inputs)>;

// Dimensions of a tensor that a node may have; those of models have few.
constexpr int64_t maxRank = 64;

class Call : public onnx::NodeView {
public:
  // `inputs` are null where an optional one is left out.
  Call(const onnx::Node &node, int64_t opset, SourceLocation location, std::vector<Value> inputs,
       RunBody runBody = nullptr);

  // Whether it is given and, as an optional, not empty.
  bool has(size_t input) const override {
    return input < inputs_.size() && inputs_[input] && !inputs_[input].isEmpty();
  }
  const Value &value(size_t input) const;       // of any kind
  const Sequence &sequence(size_t input) const; // fails when it is none
  const Tensor &input(size_t input) const { return *shared(input); }
  const ConstantTensor &shared(size_t input) const; // to be passed on as it is
  const Shape &shape(size_t input) const { return this->input(input).shape; }
  int64_t rank(size_t input) const { return static_cast<int64_t>(shape(input).size()); }

  // All elements of an input, of any type. `what` names it in the error for more than one
  // dimension.
  using NodeView::integers;
  std::vector<int64_t> integers(size_t input, const char *what) const;
  // The only element of an input: of a scalar, or of a list.
  int64_t integerScalar(size_t input, const char *what) const;
  double scalar(size_t input, const char *what) const;

  // An element type that an attribute gives by its number.
  DType type(const std::string &attribute, DType fallback) const;

  void set(Tensor tensor, size_t output = 0);
  void set(ConstantTensor tensor, size_t output = 0) { set(Value(std::move(tensor)), output); }
  void set(Value value, size_t output = 0);
  // Zeros, to be filled. Fails when it would take more than `limitBytes` or has more than maxRank
  // dimensions.
  Tensor make(DType type, Shape shape) const;
  // Of each result; at most maxTensorBytes, which is taken otherwise.
  void limitBytes(int64_t bytes) { limitBytes_ = bytes; }

  std::vector<Value> run(const onnx::Graph &body, const std::vector<Value> &inputs) const {
    return runBody_(body, inputs);
  }

  // One for each output of the node; nothing where nothing was set.
  std::vector<Value> takeResults() { return std::move(results_); }

private:
  void checkSize(DType type, const Shape &shape) const;

  std::vector<Value> inputs_, results_;
  RunBody runBody_;
  int64_t limitBytes_ = maxTensorBytes;
};

} // namespace tilewright::host
