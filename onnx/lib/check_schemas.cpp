#include "check_schemas.h"

#include "attribute_kinds.h"
#include "tilewright/onnx/schema.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace tilewright::onnx {

namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

constexpr int unknownType = 0;

std::string counted(size_t number, const char *what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// "2", "2 to 3", "1 or more"
std::string formatBounds(size_t least, size_t most) {
  if (least == most)
    return std::to_string(least);
  return most == SIZE_MAX ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
}

// A bound that is no bound, and a constant that may end in one.
bool mayBeInfinite(std::string_view op) { return op == "Clip" || op == "Constant"; }

// The element type that the attributes of an operator give to its output; unknownType when none
// does.
int64_t typeByAttributes(const NodeProto &node) {
  for (const AttributeProto &attribute : node.attribute()) {
    const std::string &name = attribute.name();
    if (name == "to" || name == "dtype")
      return attribute.i();
    if (name == "value")
      return attribute.t().data_type();
    if (name == "value_float" || name == "value_floats")
      return ::onnx::TensorProto::FLOAT;
    if (name == "value_int" || name == "value_ints")
      return ::onnx::TensorProto::INT64;
    if (name == "value_string" || name == "value_strings")
      return ::onnx::TensorProto::STRING;
  }
  return node.op_type() == "ConstantOfShape" ? int64_t(::onnx::TensorProto::FLOAT) : unknownType;
}

int64_t typeOf(const ::onnx::ValueInfoProto &value) {
  return value.type().has_tensor_type() ? value.type().tensor_type().elem_type() : unknownType;
}

// The element types of a graph's values, and behind them those of the graph around it. Keys are the
// model's own strings.
class ElementTypes {
public:
  // `outer` is null for the graph of the model.
  ElementTypes(const GraphProto &graph, const ElementTypes *outer) : outer_(outer) {
    types_.reserve(graph.node_size() + graph.initializer_size() + graph.input_size());
    for (const auto *values : {&graph.value_info(), &graph.input(), &graph.output()})
      for (const auto &value : *values)
        if (int64_t type = typeOf(value); type != unknownType)
          declared_.emplace(value.name(), type);
  }

  bool definedHere(const std::string &name) const { return types_.count(name); }
  bool defined(const std::string &name) const {
    return definedHere(name) || (outer_ && outer_->defined(name));
  }
  int64_t operator[](const std::string &name) const {
    auto found = types_.find(name);
    return found == types_.end() ? (*outer_)[name] : found->second;
  }

  // The value `name` is defined from here on. `fail(message, fix)` throws.
  template <typename Fail> void define(const std::string &name, int64_t type, Fail fail) {
    auto declared = declared_.find(name);
    int64_t told = declared == declared_.end() ? unknownType : declared->second;
    if (type != unknownType && told != unknownType && type != told)
      fail(fmt::format("'{}' is of {}, and the model declares it as {}", escape(name),
                       elementTypeName(type), elementTypeName(told)),
           "export the model again, or leave the declaration out");
    types_[name] = type == unknownType ? told : type;
  }

private:
  const ElementTypes *outer_;
  std::unordered_map<std::string_view, int64_t> declared_; // as the model says
  std::unordered_map<std::string_view, int64_t> types_;    // of the values defined so far
};

// Of the model around a graph.
struct Surroundings {
  const std::string &path;
  int64_t opset;
  std::unordered_set<std::string_view> domains; // that the model imports
};

void checkGraph(const Surroundings &model, const GraphProto &graph, const ElementTypes *outer);

// One node.
class NodeChecker {
public:
  NodeChecker(const Surroundings &model, const NodeProto &proto, ElementTypes &types)
      : model_(model), node_(proto), read_(readWithoutAttributes(proto)), types_(types) {}

  void check() {
    for (const std::string &input : node_.input())
      if (!input.empty() && !types_.defined(input))
        fail(fmt::format("input '{}' is not defined before this node", escape(input)));
    if (!read_.domain.empty()) { // not ONNX's own: nothing else is known of it
      if (!model_.domains.count(read_.domain))
        fail(fmt::format("the model does not say which version of the operator set {} it uses",
                         escape(read_.domain)));
      for (const std::string &output : node_.output())
        define(output, unknownType);
      return;
    }
    schema_ = findSchema();
    checkCounts();
    checkAttributes();
    checkSubgraphs();
    // Each type variable is bound to the type of the first input that has it; outputs follow.
    for (int i = 0; i < node_.input_size(); ++i)
      if (!node_.input(static_cast<int>(i)).empty())
        checkInput(i);
    for (int i = 0; i < node_.output_size(); ++i)
      define(node_.output(i), outputType(i));
  }

private:
  [[noreturn]] void fail(const std::string &message, const std::string &fix = "") const {
    throw UserError({model_.path, 0, 0, read_.describe()}, message, fix);
  }
  void define(const std::string &output, int64_t type) {
    if (output.empty())
      return;
    if (types_.defined(output))
      fail(fmt::format("the name '{}' of its output is defined twice", escape(output)));
    types_.define(output, type,
                  [this](const std::string &message, const char *fix) { fail(message, fix); });
  }
  std::string operatorSet() const {
    return fmt::format("{} of operator set {}", node_.op_type(), model_.opset);
  }

  const Schema *findSchema() const {
    SchemaVersions versions = schemasOf(node_.op_type());
    if (versions.begin() == versions.end()) {
      std::string near = nearest(node_.op_type(), schemaNames());
      fail(fmt::format("operator set {} has no operator {}", model_.opset, escape(node_.op_type())),
           near.empty() ? "" : fmt::format("did you mean {}?", near));
    }
    const Schema *schema = versions.at(model_.opset);
    if (!schema)
      fail(fmt::format("the model uses operator set {}, and ONNX has {} from {} on", model_.opset,
                       node_.op_type(), versions.begin()->since),
           fmt::format("export the model with operator set {} or later", versions.begin()->since));
    if (schema->deprecated)
      fail(fmt::format("the model uses operator set {}, and {} ended with {}", model_.opset,
                       node_.op_type(), schema->since - 1),
           "export the model again: another operator does the same");
    return schema;
  }

  void checkCounts() const {
    const Schema &schema = *schema_;
    size_t inputs = node_.input_size(), outputs = node_.output_size();
    if (inputs < schema.minInputs || inputs > schema.maxInputs)
      fail(fmt::format("it has {}, and {} takes {}", counted(inputs, "input"), operatorSet(),
                       formatBounds(schema.minInputs, schema.maxInputs)));
    if (outputs < schema.minOutputs || outputs > schema.maxOutputs)
      fail(fmt::format("it has {}, and {} gives {}", counted(outputs, "output"), operatorSet(),
                       formatBounds(schema.minOutputs, schema.maxOutputs)));
    for (size_t i = 0; i < inputs; ++i)
      if (const Parameter &each = parameterAt(schema.inputs, i);
          each.presence != Presence::Optional && node_.input(static_cast<int>(i)).empty())
        fail(fmt::format("input {}, {}, is missing", i, each.name));
    for (size_t i = 0; i < outputs; ++i)
      if (const Parameter &each = parameterAt(schema.outputs, i);
          each.presence == Presence::Single && node_.output(static_cast<int>(i)).empty())
        fail(fmt::format("output {}, {}, has no name", i, each.name));
  }

  void checkAttributes() const {
    for (const AttributeProto &each : node_.attribute())
      checkAttribute(each);
    for (const SchemaAttribute &each : schema_->attributes)
      if (each.required && std::none_of(node_.attribute().begin(), node_.attribute().end(),
                                        [&](auto &given) { return given.name() == each.name; }))
        fail(fmt::format("attribute '{}' is missing", each.name),
             fmt::format("give {}: {} has no default for it", kindName(each.kind), operatorSet()));
  }

  void checkAttribute(const AttributeProto &proto) const {
    std::string name = escape(proto.name());
    const SchemaAttribute *attribute = schema_->attribute(proto.name());
    if (!attribute) {
      std::vector<std::string> known;
      for (const SchemaAttribute &each : schema_->attributes)
        known.emplace_back(each.name);
      std::string near = nearest(proto.name(), known);
      fail(fmt::format("{} has no attribute '{}'", operatorSet(), name),
           near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    if (!proto.ref_attr_name().empty())
      fail(
          fmt::format("attribute '{}' refers to one of a function, and the node is in none", name));
    const AttributeKind kind = attribute->kind;
    if (proto.type() != static_cast<int>(kind))
      fail(fmt::format("attribute '{}' should be {}", name, kindName(kind)));
    const std::vector<AttributeKind> held = heldKinds(proto);
    if (held.empty() && !maybeUnwritten(kind))
      fail(fmt::format("attribute '{}' has no value", name));
    if (!held.empty() && held != std::vector<AttributeKind>{kind})
      fail(fmt::format("attribute '{}' says that it is {}, and holds something else", name,
                       kindName(kind)));
    if (mayBeInfinite(node_.op_type()))
      return;
    if (kind == AttributeKind::Float && !std::isfinite(proto.f()))
      fail(fmt::format("attribute '{}' is {}", name, proto.f()), "give a finite number");
    for (float number : proto.floats())
      if (!std::isfinite(number))
        fail(fmt::format("attribute '{}' holds {}", name, number), "give a finite number");
  }

  // What the branches of an If and the bodies of loops hold, and how many values they give.
  void checkSubgraphs() const {
    const int wanted = node_.output_size() + (node_.op_type() == "Loop"); // whether it goes on
    for (const AttributeProto &each : node_.attribute()) {
      if (!each.has_g())
        continue;
      checkGraph(model_, each.g(), &types_);
      if (each.g().output_size() != wanted)
        fail(fmt::format("attribute '{}' gives {}, and should give {}", escape(each.name()),
                         counted(each.g().output_size(), "value"), wanted));
    }
  }

  void checkInput(int at) {
    const Parameter &parameter = parameterAt(schema_->inputs, at);
    int64_t type = types_[node_.input(at)];
    if (type == unknownType)
      return;
    TypeSet allowed = schema_->allowed(parameter.type);
    if (!allows(allowed, type))
      fail(fmt::format("input {}, '{}', is of {}, and {} takes {}", at, escape(node_.input(at)),
                       elementTypeName(type), operatorSet(), formatTypes(allowed)),
           "put a Cast before it, or export the model again");
    if (parameter.presence == Presence::Mixed)
      return;
    for (const Bound &each : bound_)
      if (each.variable == parameter.type) {
        if (each.type == type)
          return;
        fail(fmt::format("inputs {} and {}, '{}' and '{}', are of {} and {}, and {} takes one type "
                         "for both",
                         each.input, at, escape(node_.input(each.input)), escape(node_.input(at)),
                         elementTypeName(each.type), elementTypeName(type), operatorSet()),
             "put a Cast before one of them, or export the model again");
      }
    bound_.push_back({parameter.type, type, at});
  }

  int64_t outputType(int at) const {
    const Parameter &parameter = parameterAt(schema_->outputs, at);
    if (parameter.presence == Presence::Mixed)
      return unknownType;
    for (const Bound &each : bound_)
      if (each.variable == parameter.type)
        return each.type;
    TypeSet allowed = schema_->allowed(parameter.type);
    if ((allowed & (allowed - 1)) == 0) // one type
      return allowed >> notATensor ? unknownType : __builtin_ctz(allowed);
    int64_t type = typeByAttributes(node_);
    if (type != unknownType && !allows(allowed, type))
      fail(fmt::format("it would give {}, and {} gives {}", elementTypeName(type), operatorSet(),
                       formatTypes(allowed)));
    return type;
  }

  struct Bound {
    std::string_view variable;
    int64_t type;
    int input;
  };

  const Surroundings &model_;
  const NodeProto &node_;
  const Node read_;
  ElementTypes &types_;
  const Schema *schema_ = nullptr;
  std::vector<Bound> bound_;
};

void checkGraph(const Surroundings &model, const GraphProto &graph, const ElementTypes *outer) {
  ElementTypes types(graph, outer);
  auto define = [&](const char *kind, const std::string &name, int64_t type) {
    types.define(name, type, [&](const std::string &message, const char *fix) {
      throw UserError({model.path, 0, 0, fmt::format("{} '{}'", kind, escape(name))}, message, fix);
    });
  };
  for (const auto &input : graph.input())
    define("input", input.name(), typeOf(input));
  for (const auto &initializer : graph.initializer())
    define("initializer", initializer.name(), initializer.data_type());
  for (const auto &initializer : graph.sparse_initializer())
    define("initializer", initializer.values().name(), initializer.values().data_type());
  for (const NodeProto &node : graph.node())
    NodeChecker(model, node, types).check();
  for (const auto &output : graph.output())
    if (!types.definedHere(output.name()))
      throw UserError({model.path, 0, 0, fmt::format("output '{}'", escape(output.name()))},
                      "the output is not computed by any node");
}

} // namespace

Node readWithoutAttributes(const NodeProto &proto) {
  Node node;
  node.op = proto.op_type();
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  node.name = proto.name();
  for (size_t i = 0; node.name.empty() && i < node.outputs.size(); ++i)
    node.name = node.outputs[i];
  return node;
}

void checkSchemas(const std::string &path, const ::onnx::ModelProto &proto, int64_t opset) {
  Surroundings model{path, opset, {}};
  for (const auto &import : proto.opset_import())
    model.domains.insert(import.domain());
  checkGraph(model, proto.graph(), nullptr);
}

} // namespace tilewright::onnx
