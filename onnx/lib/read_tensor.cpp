#include "read_tensor.h"

#include "external_data.h"
#include "tilewright/onnx/schema.h"
#include "tilewright/support/npy_bytes.h"

#include <cstring>
#include <fmt/format.h>

namespace tilewright::onnx {

namespace {

using ::onnx::TensorProto;

[[noreturn]] void fail(const TensorSource &source, const std::string &message,
                       const std::string &fix = "") {
  throw UserError({source.path, 0, 0, source.subject}, message, fix);
}

// Elements of less than a byte, each in a byte of its own: the first one stands in the lowest bits.
std::vector<char> unpacked(const std::vector<char> &packed, int64_t count, DType type) {
  const int bits = bitsOf(type), each = 8 / bits;
  const bool isSigned = type == DType::I4 || type == DType::I2;
  std::vector<char> bytes(count);
  for (int64_t i = 0; i < count; ++i) {
    const int value = packed[i / each] >> i % each * bits & ((1 << bits) - 1);
    bytes[i] = static_cast<char>(isSigned && value >> (bits - 1) ? value - (1 << bits) : value);
  }
  return bytes;
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
    return packField(proto.int32_data(),
                     byteSize(dtype)); // of packed elements: a byte of them each
  }
}

int dataFieldCount(const TensorProto &proto) {
  return proto.has_raw_data() + !proto.float_data().empty() + !proto.double_data().empty() +
         !proto.int32_data().empty() + !proto.int64_data().empty() + !proto.uint64_data().empty() +
         !proto.string_data().empty() + (proto.data_location() == TensorProto::EXTERNAL);
}

} // namespace

std::string packed(const Tensor &tensor) {
  const int bits = bitsOf(tensor.dtype), each = 8 / std::min(bits, 8);
  if (bits >= 8)
    return std::string(tensor.bytes.begin(), tensor.bytes.end());
  const int64_t count = tensor.elements();
  std::string bytes((count + each - 1) / each, 0);
  for (int64_t i = 0; i < count; ++i)
    bytes[i / each] = static_cast<char>(bytes[i / each] | (tensor.bytes[i] & ((1 << bits) - 1))
                                                              << i % each * bits);
  return bytes;
}

std::optional<DType> dtypeOf(int64_t dataType) {
  // By the numbers of TensorProto.DataType, of which Debian's header has the older ones.
  constexpr std::optional<DType> types[] = {{},
                                            DType::F32,
                                            DType::U8,
                                            DType::I8,
                                            DType::U16,
                                            DType::I16,
                                            DType::I32,
                                            DType::I64,
                                            {}, // string
                                            DType::Bool,
                                            DType::F16,
                                            DType::F64,
                                            DType::U32,
                                            DType::U64,
                                            {}, // complex64
                                            {}, // complex128
                                            DType::BF16,
                                            DType::F8E4M3FN,
                                            DType::F8E4M3FNUZ,
                                            DType::F8E5M2,
                                            DType::F8E5M2FNUZ,
                                            DType::U4,
                                            DType::I4,
                                            DType::F4E2M1,
                                            DType::F8E8M0,
                                            DType::U2,
                                            DType::I2};
  return dataType >= 0 && dataType < static_cast<int64_t>(std::size(types)) ? types[dataType]
                                                                            : std::nullopt;
}

int64_t dataTypeOf(DType type) {
  for (int64_t number = 0;; ++number)
    if (dtypeOf(number) == type)
      return number;
}

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
  for (int64_t dim : proto.dims()) {
    if (dim < 0)
      fail(source, fmt::format("dimension {} is negative", dim));
    tensor->shape.push_back(dim);
  }
  if (!fitsTensor(tensor->shape, byteSize(*dtype)))
    fail(source, fmt::format("the tensor is larger than {} bytes", maxTensorBytes));

  const int64_t count = tensor->elements();
  const int bits = bitsOf(*dtype);
  const int64_t size = (count * bits + 7) / 8;
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
  if (bits < 8)
    tensor->bytes = unpacked(tensor->bytes, count, *dtype);
  return tensor;
}

} // namespace tilewright::onnx
