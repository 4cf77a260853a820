#include "check_schemas.h"
#include "inline_functions.h"
#include "read_tensor.h"
#include "tilewright/onnx/declared_shape.h"
#include "tilewright/onnx/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/stubs/logging.h>
#include <set>

namespace tilewright::onnx {

namespace {

constexpr int64_t newestFormat = 13;

// Exporters write unknown dimensions as a name, as nothing, as -1 and as 0.
std::optional<std::vector<int64_t>> declaredShape(const ::onnx::TypeProto::Tensor &type) {
  if (!type.has_shape())
    return std::nullopt;
  std::vector<int64_t> shape;
  for (const auto &dim : type.shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value()
                                                               : dynamicDimension);
  return shape;
}

// Whether a node of the graph, or of those in it, is of the domain ai.onnx.
bool usesOnnx(const ::onnx::GraphProto &graph) {
  for (const auto &node : graph.node()) {
    if (node.domain().empty() || node.domain() == "ai.onnx")
      return true;
    for (const auto &attribute : node.attribute())
      if (usesOnnx(attribute.g()))
        return true;
  }
  return false;
}

class ModelReader {
public:
  ModelReader(std::string path, bool tensorsOnly)
      : path_(std::move(path)), tensorsOnly_(tensorsOnly) {}

  Model read(::onnx::ModelProto &proto); // of which it leaves no data

private:
  [[noreturn]] void fail(const std::string &subject, const std::string &message,
                         const std::string &fix = "") const {
    throw UserError({path_, 0, 0, subject}, message, fix);
  }
  int64_t readOpset(const ::onnx::ModelProto &proto) const;
  Graph readGraph(::onnx::GraphProto &graph, bool isBody) const;
  GraphValue readValue(const ::onnx::ValueInfoProto &proto) const;
  void checkListed(const ::onnx::ValueInfoProto &input, const Tensor &tensor,
                   const std::string &subject) const;
  Node readNode(::onnx::NodeProto &proto) const;
  Attribute readAttribute(const Node &node, ::onnx::AttributeProto &proto) const;

  std::string path_;
  bool tensorsOnly_;
};

int64_t ModelReader::readOpset(const ::onnx::ModelProto &proto) const {
  std::optional<int64_t> opset;
  for (const auto &import : proto.opset_import()) {
    if (!import.domain().empty() && import.domain() != "ai.onnx")
      continue; // matters only to nodes of that domain, and those are rejected by name
    if (opset)
      fail("", "the model imports the operator set ai.onnx twice");
    opset = import.version();
  }
  if (!opset && !usesOnnx(proto.graph()))
    return newestOpset;
  if (!opset)
    fail("", "the model does not say which version of the operator set ai.onnx it uses");
  if (*opset < oldestOpset || *opset > newestOpset)
    fail("", fmt::format("operator set ai.onnx {} is not supported", *opset),
         fmt::format("convert the model to an operator set from {} to {}", oldestOpset,
                     newestOpset));
  return *opset;
}

// Exporters leave out types in bodies.
GraphValue ModelReader::readValue(const ::onnx::ValueInfoProto &proto) const {
  GraphValue value;
  value.name = proto.name();
  const auto &type = proto.type().tensor_type();
  value.type = proto.type().has_tensor_type()     ? elementTypeName(type.elem_type())
               : proto.type().has_sequence_type() ? "sequence"
               : proto.type().has_optional_type() ? "optional"
                                                  : "no tensor";
  value.dtype = dtypeOf(type.elem_type());
  value.shape = declaredShape(type);
  return value;
}

// An initializer that is listed as an input has the shape that it is listed with.
void ModelReader::checkListed(const ::onnx::ValueInfoProto &input, const Tensor &tensor,
                              const std::string &subject) const {
  auto shape = declaredShape(input.type().tensor_type());
  if (shape && !fits(*shape, tensor.shape))
    fail(subject, fmt::format("the initializer of that name has the shape ({}), and the input ({})",
                              fmt::join(tensor.shape, ", "), fmt::join(*shape, ", ")));
}

Attribute ModelReader::readAttribute(const Node &node, ::onnx::AttributeProto &proto) const {
  using Proto = ::onnx::AttributeProto;
  switch (proto.type()) {
  case Proto::INT:
    return proto.i();
  case Proto::FLOAT:
    return proto.f();
  case Proto::STRING:
    return proto.s();
  case Proto::INTS:
    return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
  case Proto::FLOATS:
    return std::vector<float>(proto.floats().begin(), proto.floats().end());
  case Proto::STRINGS:
    return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
  case Proto::TENSOR:
    return readTensor(proto.t(), {path_, node.describe()});
  case Proto::GRAPH:
    if (!proto.has_g()) // which the schemas' check complains of
      return UnsupportedAttribute{"a graph"};
    return std::make_shared<const Graph>(readGraph(*proto.mutable_g(), true));
  default:
    return UnsupportedAttribute{Proto::AttributeType_Name(proto.type())};
  }
}

Node ModelReader::readNode(::onnx::NodeProto &proto) const {
  Node node = readWithoutAttributes(proto);
  for (auto &attribute : *proto.mutable_attribute())
    if (!node.attributes.emplace(attribute.name(), readAttribute(node, attribute)).second)
      fail(node.describe(), fmt::format("attribute '{}' stands twice", escape(attribute.name())));
  return node;
}

Graph ModelReader::readGraph(::onnx::GraphProto &graph, bool isBody) const {
  Graph read;
  if (graph.sparse_initializer_size() > 0)
    fail(fmt::format("initializer '{}'", escape(graph.sparse_initializer(0).values().name())),
         "sparse tensors are not supported", "store it as a dense tensor");
  for (auto &initializer : *graph.mutable_initializer()) {
    std::string subject = fmt::format("initializer '{}'", escape(initializer.name()));
    if (initializer.name().empty())
      fail(subject, "an initializer has no name");
    ConstantTensor &tensor = read.initializers[initializer.name()];
    if (tensor)
      fail(subject, "the name is defined twice");
    tensor = readTensor(initializer, {path_, subject});
    ::onnx::TensorProto withoutData;
    withoutData.set_name(initializer.name());
    withoutData.set_data_type(initializer.data_type());
    withoutData.Swap(&initializer);
  }
  std::set<std::string> inputs;
  for (const auto &input : graph.input()) {
    std::string subject = fmt::format("input '{}'", escape(input.name()));
    if (input.name().empty())
      fail(subject, "an input has no name");
    if (!inputs.insert(input.name()).second)
      fail(subject, "the name is defined twice");
    // Before version 4 of the format every initializer is listed as an input as well.
    if (auto found = read.initializers.find(input.name()); found != read.initializers.end()) {
      checkListed(input, *found->second, subject);
      continue;
    }
    if (!isBody && tensorsOnly_ && !input.type().has_tensor_type())
      fail(subject, "only tensors are supported as inputs");
    read.inputs.push_back(readValue(input));
  }
  for (auto &node : *graph.mutable_node())
    read.nodes.push_back(readNode(node));
  std::set<std::string> outputs;
  for (const auto &output : graph.output()) {
    std::string subject = fmt::format("output '{}'", escape(output.name()));
    if (output.name().empty())
      fail(subject, "an output has no name");
    if (!outputs.insert(output.name()).second && !isBody)
      fail(subject, "the output is listed twice");
    read.outputs.push_back(readValue(output));
  }
  if (read.outputs.empty() && !isBody)
    fail("", "the model has no outputs");
  for (const auto &value : graph.value_info()) {
    if (auto shape = declaredShape(value.type().tensor_type()))
      read.declared.emplace(value.name(), *shape);
    if (auto type = dtypeOf(value.type().tensor_type().elem_type()))
      read.types.emplace(value.name(), *type);
  }
  return read;
}

Model ModelReader::read(::onnx::ModelProto &proto) {
  Model model;
  if (proto.ir_version() < 1)
    fail("", "the file is not an ONNX model: it has no version");
  if (proto.ir_version() > newestFormat)
    fail("", fmt::format("version {} of the ONNX format is not supported", proto.ir_version()),
         fmt::format("save the model in version {} or older", newestFormat));
  if (!proto.has_graph())
    fail("", "the model has no graph");
  for (const auto &function : proto.functions())
    if (function.domain().empty() || function.domain() == "ai.onnx")
      fail(fmt::format("function '{}'", escape(function.name())),
           "a model may not define operators of the domain ai.onnx");
  inlineFunctions(path_, proto);
  model.opset = readOpset(proto);
  for (const auto &import : proto.opset_import())
    if (!import.domain().empty() && import.domain() != "ai.onnx")
      model.domains[import.domain()] = import.version();
  static_cast<Graph &>(model) = readGraph(*proto.mutable_graph(), false);
  checkSchemas(path_, proto, model.opset);
  return model;
}

} // namespace

Model readModel(const std::string &path, std::string bytes, bool tensorsOnly) {
  // What protobuf has to say of a malformed file goes to the log, without a place; the one
  // diagnostic is ours.
  google::protobuf::LogSilencer silence;
  ::onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw UserError({path, 0, 0, ""},
                    "the file is not an ONNX model: it is damaged, cut short or of another format");
  bytes = {};
  return ModelReader(path, tensorsOnly).read(proto);
}

Tensor readTensorFile(const std::string &path, const std::string &bytes) {
  google::protobuf::LogSilencer silence;
  ::onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw UserError({path, 0, 0, ""}, "the file is not an ONNX tensor");
  return *readTensor(proto, {path, fmt::format("tensor '{}'", escape(proto.name()))});
}

} // namespace tilewright::onnx
