#include "read_tensor.h"

#include "external_data.h"
#include "schema.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

using ::onnx::TensorProto;

[[noreturn]] void fail(const TensorSource &source, const std::string &message,
                       const std::string &fix = "") {
  throw UserError({source.path, 0, 0, source.subject}, message, fix);
}

std::optional<DType> dtypeOf(int32_t dataType) {
  switch (dataType) {
  case TensorProto::FLOAT:
    return DType::F32;
  case TensorProto::DOUBLE:
    return DType::F64;
  case TensorProto::FLOAT16:
    return DType::F16;
  case TensorProto::INT8:
    return DType::I8;
  case TensorProto::INT16:
    return DType::I16;
  case TensorProto::INT32:
    return DType::I32;
  case TensorProto::INT64:
    return DType::I64;
  case TensorProto::UINT8:
    return DType::U8;
  case TensorProto::UINT16:
    return DType::U16;
  case TensorProto::UINT32:
    return DType::U32;
  case TensorProto::UINT64:
    return DType::U64;
  case TensorProto::BOOL:
    return DType::Bool;
  default:
    return std::nullopt;
  }
}

// Elements of one of the typed fields, each narrowed to the bytes of its type.
template <typename Field> std::vector<char> packField(const Field &field, int64_t width) {
  std::vector<char> bytes(field.size() * width);
  for (int i = 0; i < field.size(); ++i) {
    auto element = field.Get(i); // little-endian: the low bytes come first
    std::memcpy(bytes.data() + i * width, &element, width);
  }
  return bytes;
}

std::vector<char> typedData(const TensorProto &proto, DType dtype) {
  switch (dtype) {
  case DType::F32:
    return packField(proto.float_data(), 4);
  case DType::F64:
    return packField(proto.double_data(), 8);
  case DType::I64:
    return packField(proto.int64_data(), 8);
  case DType::U32:
  case DType::U64:
    return packField(proto.uint64_data(), byteSize(dtype));
  default:
    return packField(proto.int32_data(), byteSize(dtype));
  }
}

float halfToFloat(uint16_t half) {
  int exponent = half >> 10 & 0x1f;
  int mantissa = half & 0x3ff;
  float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                    : exponent == 31
                        ? (mantissa ? NAN : INFINITY)
                        : std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

// Half precision is a form of storage here: every value of it is one of float32.
void widenHalf(Tensor &tensor) {
  std::vector<char> wide(tensor.bytes.size() * 2);
  for (size_t i = 0; i < tensor.bytes.size() / 2; ++i) {
    float value = halfToFloat(tensor.data<uint16_t>()[i]);
    std::memcpy(wide.data() + i * sizeof value, &value, sizeof value);
  }
  tensor.dtype = DType::F32;
  tensor.bytes = std::move(wide);
}

int dataFieldCount(const TensorProto &proto) {
  return proto.has_raw_data() + !proto.float_data().empty() + !proto.double_data().empty() +
         !proto.int32_data().empty() + !proto.int64_data().empty() + !proto.uint64_data().empty() +
         !proto.string_data().empty() + (proto.data_location() == TensorProto::EXTERNAL);
}

} // namespace

ConstantTensor readTensor(const TensorProto &proto, const TensorSource &source) {
  std::optional<DType> dtype = dtypeOf(proto.data_type());
  if (!dtype)
    fail(source,
         fmt::format("tensors of {} are not supported", elementTypeName(proto.data_type())));
  if (dataFieldCount(proto) > 1)
    fail(source, "the tensor has its data in two fields");
  if (proto.has_segment())
    fail(source, "tensors in segments are not supported");

  auto tensor = std::make_shared<Tensor>();
  tensor->dtype = *dtype;
  if (proto.dims_size() > maxConstantRank)
    fail(source, fmt::format("the tensor has {} dimensions; at most {} are supported",
                             proto.dims_size(), maxConstantRank));
  int64_t size = byteSize(*dtype);
  for (int64_t dim : proto.dims()) {
    if (dim < 0)
      fail(source, fmt::format("dimension {} is negative", dim));
    if (dim != 0 && size > maxTensorBytes / dim)
      fail(source, fmt::format("the tensor is larger than {} bytes", maxTensorBytes));
    size *= dim;
    tensor->shape.push_back(dim);
  }

  if (proto.data_location() == TensorProto::EXTERNAL) {
    ExternalData location;
    for (const auto &entry : proto.external_data())
      location.entries[entry.key()] = entry.value();
    tensor->bytes = readExternalData(location, size, source);
  } else if (proto.has_raw_data()) {
    const std::string &raw = proto.raw_data();
    tensor->bytes.assign(raw.begin(), raw.end());
  } else {
    tensor->bytes = typedData(proto, *dtype);
  }
  if (static_cast<int64_t>(tensor->bytes.size()) != size)
    fail(source, fmt::format("the tensor's shape needs {} bytes of data, and it has {}", size,
                             tensor->bytes.size()));
  if (*dtype == DType::Bool)
    for (char &byte : tensor->bytes)
      byte = byte == 0 ? 0 : 1;
  if (*dtype == DType::F16)
    widenHalf(*tensor);
  return tensor;
}

} // namespace tilewright::onnx_import
