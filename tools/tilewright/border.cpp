#include "border.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace tilewright {

static int64_t elementCount(const TensorInfo &info) {
  int64_t count = 1;
  for (int64_t size : info.shape)
    count *= size; // fits: the tensor lies in DRAM
  return count;
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

// Calls `visit` with a null pointer of the C++ type of the elements.
template <typename Visit> static void withType(DType type, Visit visit) {
  switch (type) {
  case DType::Bool:
  case DType::U8:
    return visit(static_cast<uint8_t *>(nullptr));
  case DType::I8:
    return visit(static_cast<int8_t *>(nullptr));
  case DType::I16:
    return visit(static_cast<int16_t *>(nullptr));
  case DType::U16:
    return visit(static_cast<uint16_t *>(nullptr));
  case DType::I32:
    return visit(static_cast<int32_t *>(nullptr));
  case DType::U32:
    return visit(static_cast<uint32_t *>(nullptr));
  case DType::I64:
    return visit(static_cast<int64_t *>(nullptr));
  case DType::U64:
    return visit(static_cast<uint64_t *>(nullptr));
  case DType::F32:
    return visit(static_cast<float *>(nullptr));
  case DType::F64:
    return visit(static_cast<double *>(nullptr));
  case DType::F16:
    break;
  }
}

static bool isFloat(DType type) {
  return type == DType::F16 || type == DType::F32 || type == DType::F64;
}

namespace {
// Converts the tensor that the user gave for one input.
class Input {
public:
  Input(const TensorInfo &info, const std::string &file, bool raw)
      : info_(info), place_{file, 0, 0, ""}, raw_(raw), tensor_(readNpy(file)) {}

  int64_t samples() const {
    if (tensor_.shape == info_.shape)
      return 1;
    bool stacked =
        !info_.shape.empty() && tensor_.shape.size() == info_.shape.size() &&
        std::equal(tensor_.shape.begin() + 1, tensor_.shape.end(), info_.shape.begin() + 1) &&
        tensor_.shape[0] > 0 && tensor_.shape[0] % info_.shape[0] == 0;
    if (!stacked)
      throw UserError(place_,
                      fmt::format("has shape {}, but input '{}' takes {}", shapeText(tensor_.shape),
                                  escape(info_.name), shapeText(info_.shape)),
                      "give that shape, or several samples stacked along the first dimension");
    return tensor_.shape[0] / info_.shape[0];
  }

  std::vector<char> bytes() const {
    bool quantizes = info_.scale && (tensor_.dtype == DType::F32 || tensor_.dtype == DType::F64);
    bool same = tensor_.dtype == info_.dtype && (raw_ || !info_.scale);
    bool narrows = !raw_ && !info_.scale && !isFloat(tensor_.dtype) && !isFloat(info_.dtype);
    if (same)
      return tensor_.bytes;
    if (!quantizes && !narrows)
      refuse();
    std::vector<char> result(static_cast<size_t>(tensor_.elements() * byteSize(info_.dtype)));
    withType(tensor_.dtype, [&](auto *from) {
      withType(info_.dtype, [&](auto *to) {
        convert<std::remove_pointer_t<decltype(from)>, std::remove_pointer_t<decltype(to)>>(result);
      });
    });
    return result;
  }

private:
  [[noreturn]] void refuse() const {
    std::string wanted = !info_.scale ? name(info_.dtype)
                         : raw_       ? fmt::format("{}, float32 or float64", name(info_.dtype))
                                      : "float32 or float64";
    bool wantsRaw = !raw_ && info_.scale && tensor_.dtype == info_.dtype;
    throw UserError(place_,
                    fmt::format("holds {}, but input '{}' takes {}", name(tensor_.dtype),
                                escape(info_.name), wanted),
                    wantsRaw ? "give --raw to take integers as they are" : "convert it");
  }

  template <typename From, typename To> void convert(std::vector<char> &result) const {
    const From *from = tensor_.data<From>();
    auto *to = reinterpret_cast<To *>(result.data());
    for (int64_t i = 0; i < tensor_.elements(); ++i) {
      if constexpr (std::is_floating_point_v<From>)
        to[i] = quantize<To>(static_cast<double>(from[i]));
      else
        to[i] = narrow<To>(from[i], i);
    }
  }

  // Not a number becomes the zero point, which stands for 0.
  template <typename To> To quantize(double real) const {
    double value = std::isnan(real) ? 0 : std::nearbyint(real / *info_.scale);
    value += static_cast<double>(info_.zeroPoint);
    return static_cast<To>(std::clamp(value, static_cast<double>(std::numeric_limits<To>::lowest()),
                                      static_cast<double>(std::numeric_limits<To>::max())));
  }

  template <typename To, typename From> To narrow(From value, int64_t index) const {
    auto result = static_cast<To>(value);
    if (static_cast<From>(result) != value || (result < 0) != (value < 0))
      throw UserError(
          place_, fmt::format("holds {} (element {}), which does not fit in the {} of input '{}'",
                              value, index, name(info_.dtype), escape(info_.name)));
    return result;
  }

  const TensorInfo &info_;
  Place place_;
  bool raw_;
  Tensor tensor_;
};
} // namespace

// SplitMix64: the same numbers everywhere, whatever the standard library.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static std::vector<char> randomBytes(const TensorInfo &info, int64_t samples, uint64_t seed) {
  uint64_t state = seed;
  for (char each : info.name)
    state = (state ^ static_cast<unsigned char>(each)) * 0x100000001b3u;
  std::vector<char> bytes(static_cast<size_t>(samples * elementCount(info) * byteSize(info.dtype)));
  for (char &each : bytes)
    each = static_cast<char>(info.dtype == DType::Bool ? nextRandom(state) & 1 : nextRandom(state));
  return bytes;
}

static std::map<std::string, std::string> splitFiles(const Program &program,
                                                     const std::vector<std::string> &files) {
  std::vector<std::string> known;
  for (const TensorInfo &info : program.inputs)
    known.push_back(info.name);
  std::map<std::string, std::string> result;
  Place place{"", 0, 0, "--input"};
  for (const std::string &text : files) {
    // Names of tensors may hold an equals sign; the longest name that is one of the program's
    // counts.
    size_t equals = text.find('=');
    for (size_t at = equals; at != std::string::npos; at = text.find('=', at + 1))
      if (std::find(known.begin(), known.end(), text.substr(0, at)) != known.end())
        equals = at;
    if (equals == std::string::npos)
      throw UserError(place, fmt::format("'{}' is not NAME=FILE.npy", escape(text)));
    std::string name = text.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string near = nearest(name, known);
      throw UserError(place, fmt::format("the program has no input '{}'", escape(name)),
                      !near.empty() ? fmt::format("did you mean '{}'?", escape(near))
                      : known.empty()
                          ? "it has no inputs at all"
                          : fmt::format("its first input is '{}'", escape(known.front())));
    }
    if (!result.emplace(name, text.substr(equals + 1)).second)
      throw UserError(place, fmt::format("input '{}' is given twice", escape(name)));
  }
  return result;
}

Samples readInputs(const Program &program, const std::vector<std::string> &files, bool raw,
                   uint64_t seed) {
  std::map<std::string, std::string> given = splitFiles(program, files);
  Samples samples;
  samples.bytes.resize(program.inputs.size());
  bool first = true;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const TensorInfo &info = program.inputs[i];
    auto file = given.find(info.name);
    if (file == given.end()) {
      samples.random.push_back(info.name);
      continue;
    }
    Input input(info, file->second, raw);
    int64_t count = input.samples();
    if (!first && count != samples.count)
      throw UserError({file->second, 0, 0, ""},
                      fmt::format("holds {} samples, but another input {}", count, samples.count));
    samples.count = count;
    first = false;
    samples.bytes[i] = input.bytes();
  }
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (given.find(program.inputs[i].name) == given.end())
      samples.bytes[i] = randomBytes(program.inputs[i], samples.count, seed);
  return samples;
}

Tensor toUser(const TensorInfo &info, const std::vector<char> &bytes, int64_t count, bool raw) {
  std::vector<int64_t> shape = info.shape;
  if (count != 1 && shape.empty())
    shape.push_back(count);
  else if (count != 1)
    shape[0] *= count;
  if (raw || !info.scale) {
    Tensor tensor = makeTensor(info.dtype, shape);
    std::memcpy(tensor.bytes.data(), bytes.data(), bytes.size());
    return tensor;
  }
  Tensor tensor = makeTensor(DType::F32, shape);
  withType(info.dtype, [&](auto *type) {
    const auto *from =
        reinterpret_cast<std::add_const_t<std::remove_pointer_t<decltype(type)>> *>(bytes.data());
    auto *to = tensor.data<float>();
    for (int64_t i = 0; i < tensor.elements(); ++i)
      to[i] = static_cast<float>(
          (static_cast<double>(from[i]) - static_cast<double>(info.zeroPoint)) * *info.scale);
  });
  return tensor;
}

std::vector<std::string> fileNames(const std::vector<TensorInfo> &tensors) {
  std::vector<std::string> names;
  std::set<std::string> used;
  for (const TensorInfo &tensor : tensors) {
    std::string plain = escape(tensor.name, 200);
    for (char &each : plain)
      if (each == '/' || each == '\\')
        each = '_';
    if (plain[0] == '.')
      plain[0] = '_';
    std::string unique = plain;
    for (int number = 2; !used.insert(unique).second; ++number)
      unique = fmt::format("{}-{}", plain, number);
    names.push_back(unique);
  }
  return names;
}

} // namespace tilewright
