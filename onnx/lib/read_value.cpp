#include "read_tensor.h"
#include "tilewright/onnx/value.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx-data.pb.h>

namespace tilewright::onnx {

static Value sequenceOf(const std::string &path, const ::onnx::SequenceProto &proto) {
  if (proto.elem_type() != ::onnx::SequenceProto::TENSOR && proto.elem_type() != 0)
    throw UserError({path, 0, 0, ""}, "only sequences of tensors are supported");
  Sequence sequence;
  for (const ::onnx::TensorProto &tensor : proto.tensor_values())
    sequence.push_back(readTensor(tensor, {path, fmt::format("tensor {}", sequence.size())}));
  return sequence;
}

Value readValueFile(const std::string &path, const std::string &bytes, const std::string &type) {
  google::protobuf::LogSilencer silence;
  const auto size = static_cast<int>(bytes.size());
  if (type == "sequence") {
    ::onnx::SequenceProto proto;
    if (!proto.ParseFromArray(bytes.data(), size))
      throw UserError({path, 0, 0, ""}, "the file is not an ONNX sequence");
    return sequenceOf(path, proto);
  }
  if (type != "optional")
    return std::make_shared<const Tensor>(readTensorFile(path, bytes));
  ::onnx::OptionalProto proto;
  if (!proto.ParseFromArray(bytes.data(), size))
    throw UserError({path, 0, 0, ""}, "the file is not an ONNX optional");
  if (proto.has_tensor_value())
    return readTensor(proto.tensor_value(), {path, "tensor"});
  return proto.has_sequence_value() ? sequenceOf(path, proto.sequence_value()) : Value::empty();
}

} // namespace tilewright::onnx
