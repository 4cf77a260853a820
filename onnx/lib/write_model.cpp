// The inverse of read_model.cpp.
#include "read_tensor.h"
#include "tilewright/onnx/model.h"
#include "tilewright/onnx/schema.h"

#include <fmt/format.h>

namespace tilewright::onnx {

namespace {

void writeTensor(const Tensor &tensor, ::onnx::TensorProto &proto) {
  proto.set_data_type(static_cast<int>(dataTypeOf(tensor.dtype)));
  for (int64_t dim : tensor.shape)
    proto.add_dims(dim);
  proto.set_raw_data(packed(tensor));
}

void writeValue(const GraphValue &value, ::onnx::ValueInfoProto &proto) {
  proto.set_name(value.name);
  if (!value.dtype)
    return;
  auto &type = *proto.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(dataTypeOf(*value.dtype)));
  if (!value.shape)
    return;
  auto &shape = *type.mutable_shape();
  for (int64_t size : *value.shape) {
    auto &dim = *shape.add_dim();
    if (size != dynamicDimension)
      dim.set_dim_value(size);
  }
}

void writeGraph(const Graph &graph, ::onnx::GraphProto &proto, const std::string &path);

class AttributeWriter {
public:
  // `place` is the node's.
  AttributeWriter(::onnx::AttributeProto &proto, const SourceLocation &place)
      : proto_(proto), place_(place) {}

  void operator()(int64_t value) { type(Proto::INT).set_i(value); }
  void operator()(float value) { type(Proto::FLOAT).set_f(value); }
  void operator()(const std::string &value) { type(Proto::STRING).set_s(value); }
  void operator()(const ConstantTensor &value) {
    writeTensor(*value, *type(Proto::TENSOR).mutable_t());
  }
  void operator()(const std::vector<int64_t> &values) {
    for (int64_t value : values)
      proto_.add_ints(value);
    type(Proto::INTS);
  }
  void operator()(const std::vector<float> &values) {
    for (float value : values)
      proto_.add_floats(value);
    type(Proto::FLOATS);
  }
  void operator()(const std::vector<std::string> &values) {
    for (const std::string &value : values)
      proto_.add_strings(value);
    type(Proto::STRINGS);
  }
  void operator()(const std::shared_ptr<const Graph> &value) {
    writeGraph(*value, *type(Proto::GRAPH).mutable_g(), place_.file);
  }
  void operator()(const UnsupportedAttribute &value) {
    throw Unsupported(place_, fmt::format("attribute '{}' is of the kind {}, which no operator "
                                          "here takes",
                                          escape(proto_.name()), value.kind));
  }

private:
  using Proto = ::onnx::AttributeProto;
  Proto &type(Proto::AttributeType type) {
    proto_.set_type(type);
    return proto_;
  }
  Proto &proto_;
  const SourceLocation &place_;
};

void writeGraph(const Graph &graph, ::onnx::GraphProto &proto, const std::string &path) {
  proto.set_name("graph");
  for (const GraphValue &value : graph.inputs)
    writeValue(value, *proto.add_input());
  for (const GraphValue &value : graph.outputs)
    writeValue(value, *proto.add_output());
  for (const auto &[name, tensor] : graph.initializers) {
    ::onnx::TensorProto &initializer = *proto.add_initializer();
    initializer.set_name(name);
    writeTensor(*tensor, initializer);
  }
  for (const Node &node : graph.nodes) {
    const SourceLocation place{path, 0, 0, node.describe()};
    ::onnx::NodeProto &written = *proto.add_node();
    written.set_name(node.name);
    written.set_op_type(node.op);
    written.set_domain(node.domain);
    for (const std::string &input : node.inputs)
      written.add_input(input);
    for (const std::string &output : node.outputs)
      written.add_output(output);
    for (const auto &[name, attribute] : node.attributes) {
      ::onnx::AttributeProto &each = *written.add_attribute();
      each.set_name(name);
      std::visit(AttributeWriter(each, place), attribute);
    }
  }
}

} // namespace

std::string writeModel(const Model &model, const std::string &path) {
  ::onnx::ModelProto proto;
  proto.set_ir_version(8);
  ::onnx::OperatorSetIdProto &opset = *proto.add_opset_import();
  opset.set_version(model.opset);
  for (const auto &[domain, version] : model.domains) {
    ::onnx::OperatorSetIdProto &other = *proto.add_opset_import();
    other.set_domain(domain);
    other.set_version(version);
  }
  writeGraph(model, *proto.mutable_graph(), path);
  return proto.SerializeAsString();
}

} // namespace tilewright::onnx
