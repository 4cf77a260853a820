// A node as its operator's implementation sees it: attributes of the kinds that the operator's
// schema gives them, and errors with the node's place.
#pragma once

#include "tilewright/onnx/model.h"
#include "tilewright/support/shape.h"

namespace tilewright::onnx {

class NodeView {
public:
  NodeView(const Node &node, int64_t opset, SourceLocation location)
      : node_(node), opset_(opset), location_(std::move(location)) {}

  virtual ~NodeView() = default;

  const Node &node() const { return node_; }
  int64_t opset() const { return opset_; }
  const SourceLocation &location() const { return location_; }
  [[noreturn]] void fail(const std::string &message, const std::string &fix = "") const;
  [[noreturn]] void refuse(const std::string &message,
                           const std::string &fix = "") const; // Unsupported

  // Inputs. Those that the operator's schema requires are there, and of types that it allows.
  size_t inputCount() const { return node_.inputs.size(); }
  virtual bool has(size_t input) const;
  bool wants(size_t output) const; // whether the output has a name

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
  std::vector<std::string> texts(const std::string &name) const; // none when absent
  ConstantTensor tensor(const std::string &name) const;          // null when absent
  const Graph *graph(const std::string &name) const;             // null when absent

  // `axis`, counted from the end when negative, checked against `rank`.
  int64_t axis(int64_t axis, int64_t rank) const;
  std::vector<int64_t> axes(std::vector<int64_t> axes, int64_t rank) const; // sorted, each once

private:
  template <typename T> const T *attribute(const std::string &name) const;

  const Node &node_;
  int64_t opset_;
  SourceLocation location_;
};

} // namespace tilewright::onnx
