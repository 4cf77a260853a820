#include "tilewright/support/npy_bytes.h"

#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "zip.h"

#include <cstring>
#include <fmt/format.h>
#include <string_view>

namespace tilewright {

namespace {

struct TypeRow {
  DType dtype;
  const char *name;
  const char *descr; // as the header of a `.npy` spells it
  int64_t bytes;
};

constexpr TypeRow types[] = {
    {DType::Bool, "bool", "|b1", 1},
    {DType::I8, "int8", "|i1", 1},
    {DType::U8, "uint8", "|u1", 1},
    {DType::I16, "int16", "<i2", 2},
    {DType::U16, "uint16", "<u2", 2},
    {DType::I32, "int32", "<i4", 4},
    {DType::U32, "uint32", "<u4", 4},
    {DType::I64, "int64", "<i8", 8},
    {DType::U64, "uint64", "<u8", 8},
    {DType::F16, "float16", "<f2", 2},
    {DType::F32, "float32", "<f4", 4},
    {DType::F64, "float64", "<f8", 8},
    // What is read is of the first type that a header's text fits.
    {DType::BF16, "bfloat16", "<u2", 2},
    {DType::F8E4M3FN, "float8e4m3fn", "|u1", 1},
    {DType::F8E4M3FNUZ, "float8e4m3fnuz", "|u1", 1},
    {DType::F8E5M2, "float8e5m2", "|u1", 1},
    {DType::F8E5M2FNUZ, "float8e5m2fnuz", "|u1", 1},
    {DType::F8E8M0, "float8e8m0", "|u1", 1},
    {DType::F4E2M1, "float4e2m1", "|u1", 1},
    {DType::I4, "int4", "|i1", 1},
    {DType::U4, "uint4", "|u1", 1},
    {DType::I2, "int2", "|i1", 1},
    {DType::U2, "uint2", "|u1", 1},
};

const TypeRow &rowOf(DType dtype) {
  for (const TypeRow &row : types)
    if (row.dtype == dtype)
      return row;
  throw std::logic_error("a DType without a row in the table of types");
}

constexpr size_t maxRank = 64; // NumPy 2's own limit

// What the header of a `.npy` says.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

// Parses the Python dictionary in a header: `{'descr': '<f4', 'fortran_order': False, 'shape': (1,
// 3), }`.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const SourceLocation &location)
      : text_(text), location_(location) {}

  Header parse() {
    Header header;
    bool seen[3] = {false, false, false};
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr") {
        seen[0] = true;
        if (peek() == '[')
          throw UserError(location_, "holds a structured array, not a plain tensor");
        header.descr = string();
      } else if (key == "fortran_order") {
        seen[1] = true;
        header.fortranOrder = boolean();
      } else if (key == "shape") {
        seen[2] = true;
        header.shape = tuple();
      } else {
        fail();
      }
      if (!accept(',') && peek() != '}')
        fail();
    }
    if (!seen[0] || !seen[1] || !seen[2] || peek() != '\0')
      fail();
    return header;
  }

private:
  [[noreturn]] void fail() { throw UserError(location_, "has a malformed .npy header"); }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    bool found = peek() == c && at_ < text_.size();
    at_ += found;
    return found;
  }
  void expect(char c) {
    if (!accept(c))
      fail();
  }
  std::string string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      fail();
    size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos)
      fail();
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    peek();
    for (std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    fail();
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(number());
      if (values.size() > maxRank)
        throw UserError(location_, fmt::format("has more than {} dimensions", maxRank));
      if (!accept(',') && peek() != ')')
        fail();
    }
    return values;
  }
  int64_t number() {
    peek();
    size_t first = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, int64_t(text_[at_] - '0'), &value))
        throw UserError(location_, "has a dimension that is too large");
    if (at_ == first)
      fail();
    if (at_ < text_.size() && text_[at_] == 'L') // Python 2 wrote long integers so
      ++at_;
    return value;
  }

  std::string_view text_;
  const SourceLocation &location_;
  size_t at_ = 0;
};

DType dtypeOf(const std::string &descr, const SourceLocation &location) {
  for (const TypeRow &row : types)
    if (descr == row.descr ||
        (row.bytes == 1 && descr.size() == 3 && descr.substr(1) == row.descr + 1))
      return row.dtype;
  if (descr.find('O') != std::string::npos)
    throw UserError(location, "holds pickled Python objects, which are not read",
                    "save a numeric array with numpy.save(..., allow_pickle=False)");
  if (!descr.empty() && descr[0] == '>')
    throw UserError(location, "holds big-endian data",
                    "save it with array.astype(array.dtype.newbyteorder('<'))");
  throw UserError(location, fmt::format("holds the unsupported type '{}'", escape(descr)));
}

Tensor parseNpy(std::string_view file, const SourceLocation &location, uint64_t limit) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (file.substr(0, magic.size()) != magic || file.size() < 10)
    throw UserError(location, "is not a .npy file");
  unsigned major = static_cast<unsigned char>(file[6]);
  if (major < 1 || major > 3)
    throw UserError(location, fmt::format("has the unsupported .npy version {}", major));
  size_t lengthBytes = major == 1 ? 2 : 4;
  size_t start = 8 + lengthBytes;
  uint32_t length = 0;
  if (file.size() < start)
    throw UserError(location, "is cut off in its .npy header");
  std::memcpy(&length, file.data() + 8, lengthBytes);
  if (length > file.size() - start)
    throw UserError(location, "is cut off in its .npy header");
  Header header = HeaderParser(file.substr(start, length), location).parse();
  std::string_view data = file.substr(start + length);

  Tensor tensor;
  tensor.dtype = dtypeOf(header.descr, location);
  if (header.fortranOrder)
    throw UserError(location, "holds an array in Fortran order",
                    "save it with numpy.ascontiguousarray(array)");
  tensor.shape = std::move(header.shape);
  uint64_t expected = static_cast<uint64_t>(byteSize(tensor.dtype));
  for (int64_t size : tensor.shape)
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(size), &expected))
      throw UserError(location, "has a shape that is too large");
  if (expected > limit)
    throw UserError(location, fmt::format("is too large: {} bytes of data, at most {} are read",
                                          expected, limit));
  if (expected != data.size())
    throw UserError(location, fmt::format("has {} bytes of data where its shape needs {}",
                                          data.size(), expected));
  tensor.bytes.assign(data.begin(), data.end());
  return tensor;
}

// Space for the header beside `limit` bytes of data.
uint64_t withHeader(uint64_t limit) { return limit + (uint64_t(1) << 20); }

} // namespace

int64_t byteSize(DType type) { return rowOf(type).bytes; }

const char *name(DType type) { return rowOf(type).name; }

std::optional<DType> dtypeNamed(std::string_view name) {
  for (const TypeRow &row : types)
    if (name == row.name)
      return row.dtype;
  return std::nullopt;
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor makeTensor(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(static_cast<size_t>(tensor.elements() * byteSize(dtype)));
  return tensor;
}

Tensor readNpy(const std::string &path, uint64_t limit) {
  return parseNpy(readFile(path, withHeader(limit)), {path, 0, 0, ""}, limit);
}

std::map<std::string, Tensor> readNpz(const std::string &path, uint64_t limit) {
  SourceLocation location{path, 0, 0, ""};
  std::string file = readFile(path, withHeader(limit));
  std::map<std::string, Tensor> tensors;
  uint64_t left = limit;
  for (const ZipMember &member : listZip(file, location)) {
    constexpr std::string_view suffix = ".npy";
    std::string name = member.name;
    if (name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      name.resize(name.size() - suffix.size());
    SourceLocation at{path, 0, 0, "array '" + escape(name) + "'"};
    Tensor tensor = parseNpy(extractZip(file, member, withHeader(left), at), at, left);
    left -= tensor.bytes.size();
    if (!tensors.emplace(name, std::move(tensor)).second)
      throw UserError(at, "occurs twice");
  }
  return tensors;
}

std::string npyBytes(const Tensor &tensor) {
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", rowOf(tensor.dtype).descr);
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    dict += fmt::format("{}{}", tensor.shape[i], i + 1 < tensor.shape.size() ? ", " : "");
  dict += tensor.shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t prefix = 10, alignment = 64;
  size_t padded = (prefix + dict.size() + 1 + alignment - 1) / alignment * alignment;
  dict.resize(padded - prefix - 1, ' ');
  dict += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  uint16_t length = static_cast<uint16_t>(dict.size());
  file.append(reinterpret_cast<const char *>(&length), sizeof length);
  file += dict;
  file.append(tensor.bytes.data(), tensor.bytes.size());
  return file;
}

void writeNpy(const std::string &path, const Tensor &tensor) { writeFile(path, npyBytes(tensor)); }

int bitsOf(DType type) {
  switch (type) {
  case DType::I4:
  case DType::U4:
  case DType::F4E2M1:
    return 4;
  case DType::I2:
  case DType::U2:
    return 2;
  default:
    return 8 * static_cast<int>(byteSize(type));
  }
}

Tensor storedAs(Tensor tensor, DType type) {
  const bool isSmall = type == DType::I4 || type == DType::I2;
  const DType natural = byteSize(type) == 2 ? DType::U16 : DType::U8;
  if (type <= DType::F64 || (tensor.dtype != natural && !(isSmall && tensor.dtype == DType::I8)))
    return tensor;
  tensor.dtype = type;
  if (isSmall) { // the sign is in the highest bit that is used
    const int unused = type == DType::I4 ? 4 : 6;
    for (char &byte : tensor.bytes)
      byte = static_cast<char>(static_cast<int8_t>(static_cast<uint8_t>(byte) << unused) >> unused);
  }
  return tensor;
}

} // namespace tilewright
