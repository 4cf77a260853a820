// 1. Functions are found by domain, name and overload.
// 2. A call is replaced by copies of the function's nodes, in which parameters have the names of
//    the call's values, values within new ones, and references to attributes the call's attributes
//    or the function's defaults.
// 3. The copies, and the graphs in them, may call other functions: the same again.
#include "inline_functions.h"

#include "check_schemas.h"
#include "tilewright/onnx/schema.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace tilewright::onnx {

namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

constexpr size_t mostNodes = size_t(1) << 18, mostBytes = size_t(1) << 30;
constexpr size_t deepestCalls = 64;

// Fields that are newer than the header of the system.
constexpr int overloadOfNode = 8, overloadOfFunction = 13, defaultsOfFunction = 11;

template <typename Message> std::vector<std::string> newerField(const Message &proto, int number) {
  std::vector<std::string> values;
  const auto &fields = proto.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i)
    if (const auto &field = fields.field(i);
        field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      values.push_back(field.length_delimited());
  return values;
}

std::string domainOf(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

// Domain, name and overload.
using Key = std::tuple<std::string, std::string, std::string>;

template <typename Message> Key keyOf(const Message &proto, const std::string &name, int overload) {
  const std::vector<std::string> overloads = newerField(proto, overload);
  return {domainOf(proto.domain()), name, overloads.empty() ? "" : overloads.back()};
}

class Inliner {
public:
  Inliner(const std::string &path, ::onnx::ModelProto &proto) : path_(path), proto_(proto) {
    for (const FunctionProto &function : proto.functions())
      if (!functions_.emplace(keyOf(function, function.name(), overloadOfFunction), &function)
               .second)
        fail(fmt::format("function '{}'", escape(function.name())), "it is defined twice");
    for (const auto &import : proto.opset_import())
      versions_[domainOf(import.domain())] = import.version();
  }

  void run() {
    collectNames(proto_.graph());
    expandAll(*proto_.mutable_graph());
    proto_.clear_functions();
  }

private:
  [[noreturn]] void fail(const std::string &subject, const std::string &message) const {
    throw UserError({path_, 0, 0, subject}, message);
  }

  void collectNames(const GraphProto &graph) {
    for (const auto &input : graph.input())
      names_.insert(input.name());
    for (const auto &initializer : graph.initializer())
      names_.insert(initializer.name());
    for (const NodeProto &node : graph.node()) {
      names_.insert(node.input().begin(), node.input().end());
      names_.insert(node.output().begin(), node.output().end());
      for (const AttributeProto &attribute : node.attribute())
        collectNames(attribute.g());
    }
  }

  std::string newName(const std::string &name) {
    std::string candidate = name;
    while (!names_.insert(candidate).second)
      candidate = fmt::format("{}.{}", name, ++lastNumber_);
    return candidate;
  }

  void expandAll(GraphProto &graph) {
    Nodes expanded;
    for (NodeProto &node : *graph.mutable_node())
      expand(std::move(node), expanded);
    graph.mutable_node()->Swap(&expanded);
  }

  void expand(NodeProto &&node, Nodes &result) {
    if (++nodes_ > mostNodes)
      fail("", fmt::format("its functions give more than {} nodes", mostNodes));
    const Key key = keyOf(node, node.op_type(), overloadOfNode);
    const auto found = functions_.find(key);
    if (found == functions_.end()) {
      for (AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g())
          expandAll(*attribute.mutable_g());
      *result.Add() = std::move(node);
      return;
    }
    const std::string subject = readWithoutAttributes(node).describe();
    for (const Key &caller : calls_)
      if (caller == key)
        fail(subject, fmt::format("the function '{}' calls itself", escape(node.op_type())));
    if (calls_.size() >= deepestCalls)
      fail(subject, fmt::format("functions call each other more than {} deep", deepestCalls));
    calls_.push_back(key);
    for (NodeProto &each : instantiate(node, *found->second, subject))
      expand(std::move(each), result);
    calls_.pop_back();
  }

  // What a function's own names and attributes are where it is called.
  struct Instance {
    const NodeProto &call;
    const FunctionProto &function;
    std::unordered_map<std::string, std::string> names;
    std::map<std::string, AttributeProto> attributes; // that nodes may refer to
  };

  Nodes instantiate(const NodeProto &call, const FunctionProto &function,
                    const std::string &subject) {
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
      fail(subject, fmt::format("it has more inputs or outputs than the function '{}'",
                                escape(function.name())));
    checkVersions(function);
    Instance instance{call, function, {{"", ""}}, {}};
    for (int i = 0; i < function.input_size(); ++i)
      instance.names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (const std::string &bytes : newerField(function, defaultsOfFunction)) {
      AttributeProto attribute;
      if (!attribute.ParseFromString(bytes))
        fail(subject, "an attribute of its function is damaged");
      instance.attributes[attribute.name()] = attribute;
    }
    for (const AttributeProto &attribute : call.attribute())
      instance.attributes[attribute.name()] = attribute;

    Nodes nodes, copies;
    for (int i = 0; i < function.output_size(); ++i) {
      const std::string output = i < call.output_size() ? call.output(i) : "";
      if (!instance.names.count(function.output(i))) {
        instance.names[function.output(i)] = output.empty() ? newName(function.output(i)) : output;
      } else if (!output.empty()) { // an input, or an output that stands twice
        NodeProto &copy = *copies.Add();
        copy.set_op_type("Identity");
        copy.add_input(instance.names[function.output(i)]);
        copy.add_output(output);
      }
    }
    for (const NodeProto &node : function.node()) {
      bytes_ += node.ByteSizeLong();
      if (bytes_ > mostBytes)
        fail(subject, fmt::format("its functions give more than {} bytes", mostBytes));
      NodeProto &added = *nodes.Add();
      added = node;
      adapt(added, instance);
      if (!call.name().empty())
        added.set_name(call.name() + "/" + node.name());
    }
    nodes.MergeFrom(copies);
    return nodes;
  }

  const std::string &renamed(const std::string &name, Instance &instance) {
    auto found = instance.names.find(name);
    if (found == instance.names.end())
      found = instance.names.emplace(name, newName(name)).first;
    return found->second;
  }

  void adapt(NodeProto &node, Instance &instance) {
    for (auto *names : {node.mutable_input(), node.mutable_output()})
      for (std::string &name : *names)
        name = renamed(name, instance);
    google::protobuf::RepeatedPtrField<AttributeProto> attributes;
    for (AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        if (attribute.has_g())
          adapt(*attribute.mutable_g(), instance);
        *attributes.Add() = std::move(attribute);
        continue;
      }
      const auto given = instance.attributes.find(attribute.ref_attr_name());
      if (given == instance.attributes.end()) // it keeps the operator's default
        continue;
      bytes_ += given->second.ByteSizeLong();
      AttributeProto &added = *attributes.Add();
      added = given->second;
      added.set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&attributes);
  }

  void adapt(GraphProto &graph, Instance &instance) {
    for (auto *values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
      for (auto &value : *values)
        value.set_name(renamed(value.name(), instance));
    for (auto &initializer : *graph.mutable_initializer())
      initializer.set_name(renamed(initializer.name(), instance));
    for (NodeProto &node : *graph.mutable_node())
      adapt(node, instance);
  }

  // A function may use another version of an operator set than the model if its operators are the
  // same in both.
  void checkVersions(const FunctionProto &function) {
    for (const auto &import : function.opset_import()) {
      const auto [known, isNew] = versions_.emplace(domainOf(import.domain()), import.version());
      if (isNew)
        *proto_.add_opset_import() = import;
      if (known->second == import.version() || !known->first.empty())
        continue;
      for (const NodeProto &node : function.node())
        if (const SchemaVersions schemas = schemasOf(node.op_type());
            domainOf(node.domain()).empty() && schemas.begin() != schemas.end() &&
            schemas.at(known->second) != schemas.at(import.version()))
          fail(fmt::format("function '{}'", escape(function.name())),
               fmt::format("it has {} of operator set {}, and the model uses {}",
                           escape(node.op_type()), import.version(), known->second));
    }
  }

  const std::string &path_;
  ::onnx::ModelProto &proto_;
  std::map<Key, const FunctionProto *> functions_;
  std::map<std::string, int64_t> versions_; // of operator sets that the model imports
  std::unordered_set<std::string> names_;
  std::vector<Key> calls_; // that are being expanded
  size_t nodes_ = 0, bytes_ = 0, lastNumber_ = 0;
};

} // namespace

void inlineFunctions(const std::string &path, ::onnx::ModelProto &proto) {
  if (proto.functions_size() > 0)
    Inliner(path, proto).run();
}

} // namespace tilewright::onnx
