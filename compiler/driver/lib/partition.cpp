#include "partition.h"

#include "tilewright/compiler/frontend/onnx_placement.h"
#include "tilewright/host/kernels.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <variant>

namespace tilewright {

using onnx::Graph;
using onnx::GraphValue;
using onnx::Model;
using onnx::Node;

namespace {

// What is worth moving tensors for.
bool isHeavy(const Node &node) {
  constexpr std::array heavy = {"Attention",   "Conv",        "ConvInteger",  "ConvTranspose",
                                "Einsum",      "Gemm",        "MatMul",       "MatMulInteger",
                                "MatMulNBits", "QLinearConv", "QLinearMatMul"};
  for (const auto &[name, attribute] : node.attributes)
    if (auto *body = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute))
      if (std::any_of((*body)->nodes.begin(), (*body)->nodes.end(), isHeavy))
        return true;
  return std::find(heavy.begin(), heavy.end(), node.op) != heavy.end();
}

class Partition {
public:
  Partition(const std::string &path, const Model &model, const ImportOptions &options,
            const Refusals &refusals)
      : path_(path), model_(model), options_(options), refusals_(refusals) {
    for (size_t i = 0; i < model.nodes.size(); ++i)
      for (const std::string &output : model.nodes[i].outputs)
        if (!output.empty())
          producers_[output] = i;
  }

  std::vector<ModelPart> parts() {
    do {
      std::set<size_t> onHost;
      for (const auto &[node, reason] : refusals_)
        onHost.insert(node);
      placed_ = surveyOnnx(path_, model_, options_, onHost);
      setLevels();
    } while (refuseMore());
    std::set<int> levels;
    for (size_t i = 0; i < placed_.size(); ++i)
      if (isPlaced(i))
        levels.insert(levels_[i]);
    // What is known before the model runs is the accelerator's, unless there is none.
    if (levels.empty())
      levels.insert(0);
    std::vector<ModelPart> parts;
    for (int level : levels)
      parts.push_back(part(level, level == *levels.rbegin()));
    return parts;
  }

private:
  bool isPlaced(size_t node) const { return placed_[node].isNeeded && !placed_[node].isConstant; }
  std::optional<size_t> producerOf(const std::string &value) const {
    auto found = producers_.find(value);
    return found == producers_.end() ? std::nullopt : std::optional<size_t>(found->second);
  }

  // Even levels are the accelerator's, odd ones the host's; a node reads levels up to its own.
  void setLevels() {
    levels_.assign(model_.nodes.size(), 0);
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      int level = 0;
      for (const std::string &input : readsOf(model_.nodes[i]))
        if (auto producer = producerOf(input); producer && isPlaced(*producer))
          level = std::max(level, levels_[*producer]);
      const int parity = placed_[i].onAccelerator ? 0 : 1;
      levels_[i] = level + (level % 2 != parity);
    }
  }

  // Gives nodes to the host for what was placed; false when there are none.
  bool refuseMore() {
    const size_t before = refusals_.size();
    auto refuse = [&](size_t node, const std::string &reason) { refusals_.emplace(node, reason); };
    bool anyOnHost = false;
    std::map<int, bool> isWorthIt;
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      if (!isPlaced(i))
        continue;
      if (placed_[i].onAccelerator) {
        isWorthIt[levels_[i]] |= isHeavy(model_.nodes[i]);
        continue;
      }
      anyOnHost = true;
    }
    for (size_t i = 0; anyOnHost && i < model_.nodes.size(); ++i)
      if (isPlaced(i) && placed_[i].onAccelerator && !isWorthIt[levels_[i]])
        refuse(i, "the part of the accelerator around it would multiply no matrices");
    return refusals_.size() > before;
  }

  // The nodes of a level, and those that they need of what is known before the model runs.
  std::vector<bool> nodesOf(int level, bool isLast) const {
    std::vector<bool> taken(model_.nodes.size());
    for (size_t i = 0; i < taken.size(); ++i)
      taken[i] = isPlaced(i) && levels_[i] == level;
    if (isLast)
      for (const GraphValue &output : model_.outputs)
        if (auto producer = producerOf(output.name); producer && !isPlaced(*producer))
          taken[*producer] = true;
    for (size_t i = taken.size(); i-- > 0;)
      if (taken[i])
        for (const std::string &input : readsOf(model_.nodes[i]))
          if (auto producer = producerOf(input); producer && !isPlaced(*producer))
            taken[*producer] = true;
    return taken;
  }

  ModelPart part(int level, bool isLast) const {
    const std::vector<bool> taken = nodesOf(level, isLast);
    ModelPart part;
    part.onHost = level % 2 == 1;
    part.model.opset = model_.opset;
    part.model.domains = model_.domains;
    std::set<std::string> inside;
    for (size_t i = 0; i < taken.size(); ++i)
      if (taken[i]) {
        addNode(part, i, inside);
        for (const std::string &output : model_.nodes[i].outputs)
          inside.insert(output);
      }
    std::set<std::string> outside; // values that are read elsewhere
    for (size_t i = 0; i < taken.size(); ++i)
      if (!taken[i] && placed_[i].isNeeded && isPlaced(i))
        for (const std::string &input : readsOf(model_.nodes[i]))
          outside.insert(input);
    for (const GraphValue &output : model_.outputs) {
      auto producer = producerOf(output.name);
      if (producer ? taken[*producer] : isLast)
        part.model.outputs.push_back(output);
      if (!producer && isLast)
        addInput(part, output.name);
      outside.erase(output.name);
    }
    for (const std::string &name : outside)
      if (auto producer = producerOf(name);
          producer && taken[*producer] && isPlaced(*producer) && !name.empty())
        part.model.outputs.push_back(borderValue(name));
    return part;
  }

  void addNode(ModelPart &part, size_t index, const std::set<std::string> &inside) const {
    const Node &node = model_.nodes[index];
    for (const std::string &input : readsOf(node))
      if (!input.empty() && !inside.count(input))
        addInput(part, input);
    for (const std::string &output : node.outputs) {
      if (auto shape = model_.declared.find(output); shape != model_.declared.end())
        part.model.declared.insert(*shape);
      if (auto type = model_.types.find(output); type != model_.types.end())
        part.model.types.insert(*type);
    }
    if (part.onHost && isPlaced(index)) {
      auto refusal = refusals_.find(index);
      part.operators.push_back(
          {node.name, node.op,
           refusal == refusals_.end() ? placed_[index].reason : refusal->second});
    }
    part.model.nodes.push_back(node);
  }

  // A value that the part reads: the model's input or constant, or another part's output.
  void addInput(ModelPart &part, const std::string &name) const {
    if (auto initializer = model_.initializers.find(name);
        initializer != model_.initializers.end()) {
      part.model.initializers.insert(*initializer);
      return;
    }
    auto isThat = [&](const GraphValue &value) { return value.name == name; };
    auto &inputs = part.model.inputs;
    if (std::any_of(inputs.begin(), inputs.end(), isThat))
      return;
    auto input = std::find_if(model_.inputs.begin(), model_.inputs.end(), isThat);
    inputs.push_back(input != model_.inputs.end() ? *input : borderValue(name));
  }

  // As the importer found it, else as the model declares it.
  GraphValue borderValue(const std::string &name) const {
    GraphValue value{name, "", std::nullopt, std::nullopt};
    if (auto shape = model_.declared.find(name); shape != model_.declared.end())
      value.shape = shape->second;
    if (auto type = model_.types.find(name); type != model_.types.end())
      value.dtype = type->second;
    const auto producer = producerOf(name);
    if (!producer || !placed_[*producer].types.count(name))
      return value;
    value.shape = placed_[*producer].shapes.at(name);
    if (!value.dtype)
      value.dtype = placed_[*producer].types.at(name);
    return value;
  }

  const std::string &path_;
  const Model &model_;
  const ImportOptions &options_;
  Refusals refusals_;
  std::map<std::string, size_t> producers_;
  std::vector<NodePlace> placed_;
  std::vector<int> levels_;
};

// Throws when the host lacks an operator of the graph.
void checkHost(const std::string &path, const Graph &graph,
               const std::vector<HostOperator> &operators) {
  for (const Node &node : graph.nodes) {
    if (!host::findKernel(node.op, node.domain)) {
      std::string reason;
      for (const HostOperator &each : operators)
        if (each.name == node.name)
          reason = each.reason;
      if (reason.find("is not supported") == std::string::npos || reason.empty())
        reason = fmt::format(
            "operator {}{} is not supported", escape(node.op),
            node.domain.empty() ? "" : fmt::format(" of domain '{}'", escape(node.domain)));
      throw UserError({path, 0, 0, node.describe()}, reason);
    }
    for (const auto &[name, attribute] : node.attributes)
      if (auto body = std::get_if<std::shared_ptr<const Graph>>(&attribute))
        checkHost(path, **body, operators);
  }
}

} // namespace

std::vector<ModelPart> partition(const std::string &path, const Model &model,
                                 const ImportOptions &options, const Refusals &refusals) {
  std::vector<ModelPart> parts = Partition(path, model, options, refusals).parts();
  for (const ModelPart &part : parts)
    if (part.onHost)
      checkHost(path, part.model, part.operators);
  return parts;
}

ModelPart hostPart(const std::string &path, const Model &model, const std::string &reason) {
  ModelPart part;
  part.onHost = true;
  part.model = model;
  for (const Node &node : model.nodes)
    part.operators.push_back({node.name, node.op, reason});
  checkHost(path, model, part.operators);
  return part;
}

} // namespace tilewright
