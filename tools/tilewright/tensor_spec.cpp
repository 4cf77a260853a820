#include "tensor_spec.h"

#include "tilewright/support/error.h"

#include <charconv>
#include <fmt/format.h>
#include <vector>

namespace tilewright {

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char each : text)
    if (each == separator)
      parts.emplace_back();
    else
      parts.back() += each;
  return parts;
}

uint64_t parseNumber(const std::string &option, const std::string &text) {
  bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char *begin = text.data() + (hex ? 2 : 0), *end = text.data() + text.size();
  uint64_t value = 0;
  auto [stop, failure] = std::from_chars(begin, end, value, hex ? 16 : 10);
  if (failure != std::errc() || stop != end)
    throw UserError({"", 0, 0, option}, fmt::format("'{}' is not a number", escape(text)));
  return value;
}

TensorInfo parseTensorSpec(const std::string &option, const std::string &text) {
  SourceLocation location{"", 0, 0, option};
  size_t equals = text.find('=');
  std::vector<std::string> parts =
      split(equals == std::string::npos ? "" : text.substr(equals + 1), ':');
  if (equals == 0 || parts.size() != 3)
    throw UserError(location, fmt::format("'{}' is not NAME=ADDRESS:DTYPE:SHAPE", escape(text)),
                    "write for example x=0x100:int8:16x16");
  TensorInfo tensor;
  tensor.name = text.substr(0, equals);
  tensor.address = parseNumber(option, parts[0]);
  bool known = false;
  for (DType type : {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32})
    if (parts[1] == name(type)) {
      tensor.dtype = type;
      known = true;
    }
  if (!known)
    throw UserError(location, fmt::format("'{}' is not an element type", escape(parts[1])),
                    "give bool, int8, uint8, int16, uint16 or int32");
  for (const std::string &size : split(parts[2], 'x')) {
    uint64_t value = parseNumber(option, size);
    if (value < 1 || value > (uint64_t(1) << 40))
      throw UserError(location, fmt::format("a size of {} is not in 1 to 2^40", value));
    tensor.shape.push_back(static_cast<int64_t>(value));
  }
  return tensor;
}

} // namespace tilewright
