// Builds small ONNX models for tests.
#pragma once

#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/support/error.h"

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace tilewright {

class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset = 13) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
  }

  // A dimension of -1 is left unknown.
  ModelBuilder &input(const std::string &name, const std::vector<int64_t> &shape) {
    declare(*graph().add_input(), name, shape);
    return *this;
  }
  ModelBuilder &output(const std::string &name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  ModelBuilder &output(const std::string &name, const std::vector<int64_t> &shape) {
    declare(*graph().add_output(), name, shape);
    return *this;
  }
  ModelBuilder &floats(const std::string &name, const std::vector<int64_t> &shape,
                       float value = 1) {
    ::onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (int64_t dim : shape) {
      tensor.add_dims(dim);
      count *= dim;
    }
    for (int64_t i = 0; i < count; ++i)
      tensor.add_float_data(value);
    return *this;
  }
  ModelBuilder &ints(const std::string &name, const std::vector<int64_t> &values) {
    ::onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values)
      tensor.add_int64_data(value);
    return *this;
  }
  ModelBuilder &node(const std::string &op, const std::vector<std::string> &inputs,
                     const std::vector<std::string> &outputs, const std::string &name = "it") {
    ::onnx::NodeProto &node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string &input : inputs)
      node.add_input(input);
    for (const std::string &output : outputs)
      node.add_output(output);
    return *this;
  }
  // Attributes of the last node.
  ModelBuilder &attribute(const std::string &name, int64_t value) {
    ::onnx::AttributeProto &attribute = add(name, ::onnx::AttributeProto::INT);
    attribute.set_i(value);
    return *this;
  }
  ModelBuilder &attribute(const std::string &name, const std::vector<int64_t> &values) {
    ::onnx::AttributeProto &attribute = add(name, ::onnx::AttributeProto::INTS);
    for (int64_t value : values)
      attribute.add_ints(value);
    return *this;
  }
  ModelBuilder &attribute(const std::string &name, const char *value) {
    add(name, ::onnx::AttributeProto::STRING).set_s(value);
    return *this;
  }
  ModelBuilder &attribute(const std::string &name, float value) {
    add(name, ::onnx::AttributeProto::FLOAT).set_f(value);
    return *this;
  }

  ::onnx::GraphProto &graph() { return *model.mutable_graph(); }
  std::string bytes() const { return model.SerializeAsString(); }

  ::onnx::ModelProto model;

private:
  static void declare(::onnx::ValueInfoProto &value, const std::string &name,
                      const std::vector<int64_t> &shape) {
    value.set_name(name);
    auto &type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(::onnx::TensorProto::FLOAT);
    type.mutable_shape();
    for (int64_t dim : shape) {
      auto &added = *type.mutable_shape()->add_dim();
      if (dim >= 0)
        added.set_dim_value(dim);
    }
  }
  ::onnx::AttributeProto &add(const std::string &name, ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto &attribute =
        *graph().mutable_node(graph().node_size() - 1)->add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
};

// What the import of a model says: a diagnostic, or "imported".
inline std::string diagnosticOf(const std::string &bytes, const ImportOptions &options = {},
                                const std::string &path = "m.onnx") {
  mlir::MLIRContext context;
  try {
    importOnnx(path, bytes, options, context);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "imported";
}

} // namespace tilewright
