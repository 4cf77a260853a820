// What the importer of one operator sees: the node's inputs, attributes and results, and a builder
// for TOSA ops.
#pragma once

#include "host_tensor.h"
#include "model.h"
#include "tilewright/compiler/tosa/float_builder.h"

#include <unordered_map>

namespace tilewright::onnx_import {

// A value of the model: known at import (of any type), or an SSA value (float32, or i1 for
// conditions).
struct Operand {
  ConstantTensor constant;
  mlir::Value value;

  Shape shape() const { return constant ? constant->shape : sizesOf(value); }
};

using ValueMap = std::unordered_map<std::string, Operand>;

class NodeImporter {
public:
  NodeImporter(const Node &node, int64_t opset, const SourceLocation &location, ValueMap &values,
               FloatBuilder &builder, int64_t &foldedBytes);

  const Node &node() const { return node_; }
  int64_t opset() const { return opset_; }
  FloatBuilder &tosa() { return tosa_; }
  [[noreturn]] void fail(const std::string &message, const std::string &fix = "") const;

  // Inputs. Those that the operator's schema requires are there, and of types that it allows.
  size_t inputCount() const { return node_.inputs.size(); }
  bool has(size_t input) const;
  Shape shape(size_t input) const { return operand(input).shape(); }
  int64_t rank(size_t input) const { return static_cast<int64_t>(shape(input).size()); }
  const Operand &operand(size_t input) const;
  mlir::Value value(size_t input);      // as an SSA value; float32, or i1
  mlir::Value floatValue(size_t input); // as a float32 SSA value
  // The same, of what may leave out elements of a row: minus infinity in a constant is a number so
  // far below all others that it counts for nothing in a softmax, and that two of them can be
  // added.
  mlir::Value maskedValue(size_t input);
  // The same in another shape, in which alone a constant then stands.
  mlir::Value floatValue(size_t input, const Shape &shape);
  const Tensor *constant(size_t input) const;                // null when it is not known at import
  const Tensor &known(size_t input, const char *what) const; // fails when it is not known at import
  // Of a known input. Lists have one dimension, scalars none (or one of 1, as exporters write
  // them), and all numbers are finite.
  std::vector<int64_t> integers(size_t input, const char *what) const;
  std::vector<float> floats(size_t input, const char *what) const;
  float scalar(size_t input, const char *what) const;
  void checkFinite(const Tensor &tensor, size_t input) const;
  void checkScalar(size_t input, const char *what) const;
  bool allKnown() const;

  // Attributes, of the kinds that the operator's schema gives them.
  bool hasAttribute(const std::string &name) const { return node_.attributes.count(name); }
  int64_t integer(const std::string &name, int64_t fallback) const;
  bool flag(const std::string &name, bool fallback) const; // an integer that is 0 or 1
  float number(const std::string &name, float fallback) const;
  std::string text(const std::string &name, const std::string &fallback) const;
  // One of `choices`, of which the first is the default.
  std::string choice(const std::string &name, const std::vector<std::string> &choices) const;
  std::vector<int64_t> integers(const std::string &name,
                                const std::vector<int64_t> &fallback) const;
  std::vector<float> numbers(const std::string &name, const std::vector<float> &fallback) const;
  ConstantTensor tensor(const std::string &name) const; // null when absent

  // `axis`, counted from the end when negative, checked against `rank`.
  int64_t axis(int64_t axis, int64_t rank) const;
  std::vector<int64_t> axes(std::vector<int64_t> axes, int64_t rank) const; // sorted, each once

  // Results.
  void setResult(mlir::Value value, size_t output = 0);
  void setResult(Tensor tensor, size_t output = 0);
  void setResult(const Operand &operand, size_t output = 0);
  // Fails when a constant of this shape may not be computed at import: sizes come from the model,
  // memory is the host's.
  void checkFold(const Shape &shape, DType type);

private:
  void checkVector(size_t input, const char *what) const;
  template <typename T> const T *attribute(const std::string &name) const;

  const Node &node_;
  int64_t opset_;
  SourceLocation location_;
  ValueMap &values_;
  FloatBuilder &tosa_;
  int64_t &foldedBytes_;
};

} // namespace tilewright::onnx_import
