#include "tilewright/onnx/node_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>

namespace tilewright::onnx {

std::string Node::describe() const {
  return fmt::format("node '{}' ({})", escape(name), escape(op));
}

static void addReads(const Node &node, std::set<std::string> &reads) {
  for (const std::string &input : node.inputs)
    if (!input.empty())
      reads.insert(input);
  for (const auto &[name, attribute] : node.attributes) {
    const auto *graph = std::get_if<std::shared_ptr<const Graph>>(&attribute);
    if (!graph)
      continue;
    std::set<std::string> inner, inside;
    for (const GraphValue &input : (*graph)->inputs)
      inside.insert(input.name);
    for (const auto &[initializer, tensor] : (*graph)->initializers)
      inside.insert(initializer);
    for (const Node &each : (*graph)->nodes) {
      addReads(each, inner);
      inside.insert(each.outputs.begin(), each.outputs.end());
    }
    for (const GraphValue &output : (*graph)->outputs)
      inner.insert(output.name);
    std::set_difference(inner.begin(), inner.end(), inside.begin(), inside.end(),
                        std::inserter(reads, reads.end()));
  }
}

std::vector<std::string> readsOf(const Node &node) {
  std::set<std::string> reads;
  addReads(node, reads);
  return {reads.begin(), reads.end()};
}

void NodeView::fail(const std::string &message, const std::string &fix) const {
  throw UserError(location_, message, fix);
}

void NodeView::refuse(const std::string &message, const std::string &fix) const {
  throw Unsupported(location_, message, fix);
}

bool NodeView::has(size_t input) const {
  return input < node_.inputs.size() && !node_.inputs[input].empty();
}

bool NodeView::wants(size_t output) const {
  return output < node_.outputs.size() && !node_.outputs[output].empty();
}

template <typename T> const T *NodeView::attribute(const std::string &name) const {
  auto found = node_.attributes.find(name);
  if (found == node_.attributes.end())
    return nullptr;
  const T *value = std::get_if<T>(&found->second);
  if (!value) // of an operator without a schema
    fail(fmt::format("attribute '{}' is of another kind than it should be", name));
  return value;
}

int64_t NodeView::integer(const std::string &name, int64_t fallback) const {
  const int64_t *value = attribute<int64_t>(name);
  return value ? *value : fallback;
}

bool NodeView::flag(const std::string &name, bool fallback) const {
  int64_t value = integer(name, fallback);
  if (value != 0 && value != 1)
    fail(fmt::format("attribute '{}' is {}, and should be 0 or 1", name, value));
  return value != 0;
}

float NodeView::number(const std::string &name, float fallback) const {
  const float *value = attribute<float>(name);
  return value ? *value : fallback;
}

std::string NodeView::text(const std::string &name, const std::string &fallback) const {
  const std::string *value = attribute<std::string>(name);
  return value ? *value : fallback;
}

std::string NodeView::choice(const std::string &name,
                             const std::vector<std::string> &choices) const {
  std::string value = text(name, choices.front());
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    fail(fmt::format("attribute '{}' is '{}', and should be {}", name, escape(value),
                     fmt::join(choices, " or ")));
  return value;
}

std::vector<int64_t> NodeView::integers(const std::string &name,
                                        const std::vector<int64_t> &fallback) const {
  const auto *value = attribute<std::vector<int64_t>>(name);
  return value ? *value : fallback;
}

std::vector<float> NodeView::numbers(const std::string &name,
                                     const std::vector<float> &fallback) const {
  const auto *value = attribute<std::vector<float>>(name);
  return value ? *value : fallback;
}

std::vector<std::string> NodeView::texts(const std::string &name) const {
  const auto *value = attribute<std::vector<std::string>>(name);
  return value ? *value : std::vector<std::string>();
}

const Graph *NodeView::graph(const std::string &name) const {
  const auto *value = attribute<std::shared_ptr<const Graph>>(name);
  return value ? value->get() : nullptr;
}

ConstantTensor NodeView::tensor(const std::string &name) const {
  const ConstantTensor *value = attribute<ConstantTensor>(name);
  return value ? *value : nullptr;
}

int64_t NodeView::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    fail(fmt::format("axis {} is outside a tensor of {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> NodeView::axes(std::vector<int64_t> axes, int64_t rank) const {
  for (int64_t &each : axes)
    each = axis(each, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    fail("an axis stands twice");
  return axes;
}

} // namespace tilewright::onnx
