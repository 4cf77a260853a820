#include "tilewright/simulator/runtime/session.h"

#include "tilewright/host/elements.h"
#include "tilewright/support/error.h"
#include "tilewright/support/npy_bytes.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

namespace tilewright {

namespace {

std::string text(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool isFloat(DType type) { return type == DType::F16 || type == DType::F32 || type == DType::F64; }

size_t bytesOf(const TensorInfo &info) {
  int64_t elements = 1;
  for (int64_t size : info.shape)
    elements *= size;
  return static_cast<size_t>(elements * byteSize(info.dtype));
}

// Integers of the model's type in the one that they have in DRAM.
Tensor narrowed(const Tensor &tensor, const TensorInfo &info) {
  Tensor result = host::castTensor(tensor, info.dtype);
  for (int64_t i = 0, n = tensor.elements(); i < n; ++i)
    if (host::integerAt(result, i) != host::integerAt(tensor, i))
      throw UserError({}, fmt::format("element {} is {}, which is no {} as the program takes it", i,
                                      host::integerAt(tensor, i), name(info.dtype)));
  return result;
}

// Programs compute with 48 bits at most.
void check48(const Tensor &tensor) {
  constexpr int64_t end = int64_t(1) << 47;
  for (int64_t i = 0, n = tensor.elements(); i < n; ++i)
    if (const int64_t value = tensor.data<int64_t>()[i]; value < -end || value >= end)
      throw UserError({}, fmt::format("element {} is {}, which 48 bits do not hold", i, value));
}

// `tensor` as the program takes it.
Tensor boundTensor(const Tensor &tensor, const TensorInfo &info) {
  if (tensor.dtype == DType::I64 && info.dtype == DType::I64)
    check48(tensor);
  if (tensor.dtype == info.dtype)
    return tensor;
  const Tensor given = info.given ? storedAs(tensor, *info.given) : tensor;
  const bool isGiven = info.given && given.dtype == *info.given;
  if (info.scale && (host::isFloat(given.dtype) || isGiven))
    return quantizeTensor(isFloat(given.dtype) ? given : host::castTensor(given, DType::F32), info);
  if (isGiven)
    return narrowed(given, info);
  throw UserError({},
                  fmt::format("is {}, the program takes {}{}", name(tensor.dtype),
                              name(info.given ? *info.given : info.dtype),
                              info.scale ? " or floats" : ""),
                  "convert it");
}

// What stands in DRAM in the type that the model has.
Tensor givenBack(const Tensor &tensor, const TensorInfo &info) {
  Tensor real = info.scale ? dequantizeTensor(tensor, info) : tensor;
  if (!info.given || *info.given == real.dtype)
    return real;
  if (info.scale && !host::isFloat(*info.given)) // truncation must not take what rounding left
    for (int64_t i = 0, n = real.elements(); i < n; ++i)
      real.data<float>()[i] = std::nearbyint(real.data<float>()[i]);
  return host::castTensor(real, *info.given);
}

// One sample of a tensor between the host's memory and DRAM, where the halves of 64 bits stand
// apart.
void toDram(const TensorInfo &info, const char *host, uint8_t *dram) {
  const size_t size = bytesOf(info), half = sizeof(int32_t);
  if (info.dtype != DType::I64)
    return void(std::memcpy(dram, host, size));
  for (size_t at = 0; at < size / 2; at += half) {
    std::memcpy(dram + at, host + 2 * at, half);
    std::memcpy(dram + size / 2 + at, host + 2 * at + half, half);
  }
}
void fromDram(const TensorInfo &info, const uint8_t *dram, char *host) {
  const size_t size = bytesOf(info), half = sizeof(int32_t);
  if (info.dtype != DType::I64)
    return void(std::memcpy(host, dram, size));
  for (size_t at = 0; at < size / 2; at += half) {
    std::memcpy(host + 2 * at, dram + at, half);
    std::memcpy(host + 2 * at + half, dram + size / 2 + at, half);
  }
}

// How often `shape` holds `once` along a new or the first axis; 0 when it does not.
int64_t repeats(const std::vector<int64_t> &shape, const std::vector<int64_t> &once, bool newAxis) {
  if (shape.empty() || shape.size() != once.size() + (newAxis ? 1 : 0))
    return 0;
  if (!newAxis && once[0] != 1)
    return 0;
  return std::equal(shape.begin() + 1, shape.end(), once.begin() + (newAxis ? 0 : 1)) ? shape[0]
                                                                                      : 0;
}

} // namespace

Session::Session(const Program &program) : program_(program) {}

const TensorInfo &Session::input(const std::string &name, const std::string &file) const {
  std::vector<std::string> names;
  for (const auto &info : program_.inputs) {
    if (info.name == name)
      return info;
    names.push_back(info.name);
  }
  std::string near = nearest(name, names);
  std::string all;
  for (const auto &known : names)
    all += (all.empty() ? "" : ", ") + escape(known);
  throw UserError({file, 0, 0, ""}, fmt::format("the program has no input '{}'", escape(name)),
                  near.empty() ? "its inputs are: " + all
                               : fmt::format("did you mean '{}'?", escape(near)));
}

void Session::setInput(const std::string &name, const Tensor &tensor, const std::string &file) {
  const TensorInfo &info = input(name, file);
  const SourceLocation location{file, 0, 0, fmt::format("input '{}'", escape(name))};
  int64_t batch = 1;
  Axis axis = Axis::None;
  if (tensor.shape != info.shape) {
    axis = Axis::New;
    batch = repeats(tensor.shape, info.shape, true);
    if (batch == 0) {
      axis = Axis::First;
      batch = repeats(tensor.shape, info.shape, false);
    }
    if (batch == 0)
      throw UserError(
          location,
          fmt::format("has shape {}, the program takes {}", text(tensor.shape), text(info.shape)),
          "give that, or a batch of such along a first axis");
  }
  if (hasBatch_ && batch != batch_)
    throw UserError(location,
                    fmt::format("is a batch of {}, another input one of {}", batch, batch_),
                    "give all inputs for the same number of runs");
  Tensor bound;
  try {
    bound = boundTensor(tensor, info);
  } catch (const UserError &error) {
    throw UserError(location, error.message(), error.fix());
  }
  bound_[name] = std::move(bound);
  batch_ = batch;
  hasBatch_ = true;
  if (axis != Axis::None)
    axis_ = axis;
}

std::mt19937_64 randomOf(const std::string &input, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a: the same on every machine, unlike std::hash
  for (char letter : input)
    hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return std::mt19937_64(seed ^ hash);
}

std::vector<std::string> Session::fillInputs(uint64_t seed) {
  std::vector<std::string> names;
  for (const auto &info : program_.inputs) {
    if (bound_.count(info.name))
      continue;
    std::mt19937_64 random = randomOf(info.name, seed);
    auto shape = info.shape;
    shape.insert(shape.begin(), batch_);
    Tensor tensor = makeTensor(info.dtype, shape);
    const auto size = static_cast<size_t>(byteSize(info.dtype));
    for (size_t at = 0; at < tensor.bytes.size(); at += size) {
      uint64_t bits = random();
      int64_t value = info.dtype == DType::Bool ? static_cast<int64_t>(bits & 1)
                      : size > 2                ? static_cast<int8_t>(bits)
                                                : static_cast<int64_t>(bits);
      std::memcpy(&tensor.bytes[at], &value, size); // little-endian
    }
    bound_[info.name] = std::move(tensor);
    names.push_back(info.name);
  }
  return names;
}

DramImage Session::image(int64_t index) const {
  DramImage dram(program_);
  for (const auto &info : program_.inputs) {
    auto bound = bound_.find(info.name);
    if (bound == bound_.end())
      continue;
    toDram(info, bound->second.bytes.data() + static_cast<size_t>(index) * bytesOf(info),
           dram.data() + info.address);
  }
  return dram;
}

std::map<std::string, Tensor> Session::readOutputs(DramImage &dram) const {
  std::map<std::string, Tensor> outputs;
  for (const auto &info : program_.outputs) {
    Tensor tensor = makeTensor(info.dtype, info.shape);
    fromDram(info, dram.data() + info.address, tensor.bytes.data());
    outputs.emplace(info.name, std::move(tensor));
  }
  return outputs;
}

std::vector<int64_t> Session::outputShape(const TensorInfo &info) const {
  auto shape = info.shape;
  if (axis_ == Axis::None)
    return shape;
  if (axis_ == Axis::First && !shape.empty() && shape[0] == 1)
    shape[0] = batch_;
  else
    shape.insert(shape.begin(), batch_);
  return shape;
}

int64_t Session::Result::cycles() const {
  int64_t cycles = 0;
  for (const RunRecord &record : records)
    cycles += record.cycles;
  return cycles;
}

Session::Result Session::run(Engine &engine, const RunOptions &options, bool raw) const {
  Result result;
  for (const auto &info : program_.outputs)
    result.outputs.emplace(info.name, makeTensor(info.dtype, outputShape(info)));
  RunOptions each = options;
  for (int64_t i = 0; i < batch_; ++i) {
    DramImage dram = image(i);
    result.records.push_back(engine.run(program_, dram, each));
    each.waves.clear(); // of the first sample alone
    if (result.records.back().stopped)
      return result;
    each.trace = false; // of a large batch they would not fit in memory
    for (const auto &info : program_.outputs)
      fromDram(info, dram.data() + info.address,
               result.outputs.at(info.name).bytes.data() + static_cast<size_t>(i) * bytesOf(info));
  }
  if (!raw)
    for (const auto &info : program_.outputs)
      result.outputs[info.name] = givenBack(result.outputs[info.name], info);
  return result;
}

} // namespace tilewright
