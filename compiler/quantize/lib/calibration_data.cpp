#include "calibration_data.h"

#include "byte_arguments.h"
#include "graph_queries.h"
#include "softmax_match.h"
#include "tilewright/compiler/tosa/given_parameters.h"
#include "tilewright/host/elements.h"
#include "tilewright/support/listed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>
#include <set>

using namespace mlir;

namespace tilewright::quantization {

namespace {

std::string nameOf(func::FuncOp main, unsigned argument) {
  auto name = main.getArgAttrOfType<StringAttr>(argument, "tilewright.name");
  return name ? name.getValue().str() : fmt::format("arg{}", argument);
}

// Where an array of the data stands.
SourceLocation sourceLocationOf(const CalibrationData &data, const std::string &name) {
  std::error_code error;
  if (std::filesystem::is_directory(data.path, error))
    return {(std::filesystem::path(data.path) / (name + ".npy")).string(), 0, 0, ""};
  return {data.path, 0, 0, fmt::format("array '{}'", escape(name))};
}

// Throws UserError when a number of an array is none, or none in float32.
// `isMask`: minus infinity is one there.
void requireFinite(const SourceLocation &location, const Tensor &tensor, bool isMask) {
  auto check = [&](auto *values) {
    int64_t count = tensor.elements();
    auto found = std::find_if_not(values, values + count, [&](auto value) {
      return std::isfinite(float(value)) || (isMask && value == -HUGE_VAL);
    });
    if (found == values + count)
      return;
    int64_t row = tensor.shape.empty() ? count : count / tensor.shape[0];
    throw UserError(
        location,
        fmt::format("sample {} holds {}, which is {}", (found - values) / row, *found,
                    std::isfinite(*found) ? "beyond float32's range" : "no finite number"),
        "leave that sample out");
  };
  if (tensor.dtype == DType::F32)
    check(tensor.data<float>());
  else if (tensor.dtype == DType::F64)
    check(tensor.data<double>());
}

// Integers are refused where the model takes none: pixels of 0 to 255 are not yet what it takes.
Tensor toFloat(const Tensor &tensor, bool areBytes, const SourceLocation &location) {
  if (tensor.dtype == DType::F32)
    return tensor;
  if (!host::isFloat(tensor.dtype) && !areBytes)
    throw UserError(
        location, fmt::format("holds {}, and the model's input is float32", name(tensor.dtype)),
        "save what the model is given, with numpy.savez(..., name=array.astype(numpy.float32))");
  return host::castTensor(tensor, DType::F32);
}

// "'a', 'b' and 7 more"
std::string quoted(std::vector<std::string> names) {
  for (std::string &name : names)
    name = fmt::format("'{}'", escape(name));
  return listed(names, 8);
}

// Throws UserError unless there is one array for each input, under its name.
void checkNames(const CalibrationData &data, const std::vector<std::string> &inputs) {
  std::vector<std::string> arrays;
  for (const auto &[name, tensor] : data.arrays)
    arrays.push_back(name);
  std::vector<std::string> sorted = inputs;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == arrays)
    return;
  std::string fix = "save one array for each input, under its name";
  for (const std::string &name : arrays)
    if (std::string near = nearest(name, inputs);
        !near.empty() && !std::binary_search(sorted.begin(), sorted.end(), name))
      fix = fmt::format("is '{}' meant to be '{}'?", escape(name), escape(near));
  throw UserError(
      {data.path, 0, 0, ""},
      arrays.empty() ? fmt::format("holds no arrays, and the model's inputs are {}", quoted(inputs))
                     : fmt::format("holds the arrays {}, and the model's inputs are {}",
                                   quoted(arrays), quoted(inputs)),
      fix);
}

// How many samples `data` holds for an input of this shape; throws when it does not fit.
int64_t sampleCount(const Tensor &data, ArrayRef<int64_t> shape, const SourceLocation &location) {
  ArrayRef<int64_t> row(data.shape);
  if (!row.empty()) {
    row = row.drop_front();
    if (row == shape || (!shape.empty() && shape[0] == 1 && row == shape.drop_front()))
      return data.shape[0];
  }
  throw UserError(location,
                  fmt::format("has shape ({}), and the model's input is ({})",
                              fmt::join(data.shape, ", "), fmt::join(shape, ", ")),
                  "give one sample a row: [samples, ...input shape]");
}

} // namespace

Samples samplesOf(func::FuncOp main, const CalibrationData &data) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    names.push_back(nameOf(main, i));
  checkNames(data, names);
  Samples samples;
  for (unsigned i = 0; i < names.size(); ++i) {
    const SourceLocation input{"", 0, 0, fmt::format("input '{}'", escape(names[i]))};
    const bool isReal = isFloat(main.getArgument(i));
    if (const unsigned bits = tensorType(main.getArgument(i)).getElementTypeBitWidth();
        isReal && bits != 32)
      throw UserError(
          input, fmt::format("has numbers of {} bits, and only float32 can be quantized", bits));
    SourceLocation location = sourceLocationOf(data, names[i]);
    const Tensor &array = data.arrays.at(names[i]);
    auto shape = tensorType(main.getArgument(i)).getShape();
    int64_t count = sampleCount(array, shape, location);
    if (count == 0)
      throw UserError(location, "holds no samples");
    if (i > 0 && count != static_cast<int64_t>(samples.size()))
      throw UserError(location, fmt::format("holds {} samples, and '{}' holds {}", count,
                                            escape(names[0]), samples.size()));
    samples.resize(count);
    if (!isReal) {
      const unsigned bits = tensorType(main.getArgument(i)).getElementTypeBitWidth();
      const DType type = bits == 1    ? DType::Bool
                         : bits == 8  ? DType::I8
                         : bits == 16 ? DType::I16
                                      : DType::I32;
      if (host::isFloat(array.dtype))
        throw UserError(location, fmt::format("holds {}, and the model's input is of integers",
                                              name(array.dtype)));
      const Tensor all = host::castTensor(array, type);
      for (int64_t s = 0; s < count; ++s) {
        Tensor row = makeTensor(type, shape.vec());
        std::memcpy(row.bytes.data(), all.bytes.data() + s * row.bytes.size(), row.bytes.size());
        samples[s].push_back(std::move(row));
      }
      continue;
    }
    const bool isAdded = isMask(main.getArgument(i));
    requireFinite(location, array, isAdded);
    Tensor all = toFloat(array, bytesOf(main, main.getArgument(i)).has_value(), location);
    if (const auto zero = static_cast<float>(zeroOf(main, main.getArgument(i))); zero != 0)
      std::for_each(all.data<float>(), all.data<float>() + all.elements(),
                    [&](float &value) { value -= zero; });
    if (isAdded)
      std::replace(all.data<float>(), all.data<float>() + all.elements(), -HUGE_VALF,
                   std::numeric_limits<float>::lowest());
    for (int64_t s = 0; s < count; ++s) {
      Tensor row = makeTensor(DType::F32, shape.vec());
      std::memcpy(row.bytes.data(), all.bytes.data() + s * row.bytes.size(), row.bytes.size());
      samples[s].push_back(std::move(row));
    }
  }
  return samples;
}

} // namespace tilewright::quantization

namespace tilewright {

using namespace quantization;

CalibrationData readCalibration(const std::string &path) {
  // More samples than this make no better ranges, and a small file can claim to hold far more.
  uint64_t left = uint64_t(256) << 20;
  std::error_code error;
  CalibrationData data{path, {}};
  if (!std::filesystem::is_directory(path, error)) {
    data.arrays = readNpz(path, left);
  } else {
    std::set<std::string> names; // sorted: the first mistake is the same wherever the files stand
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (entry->path().extension() == ".npy")
        names.insert(entry->path().stem().string());
    if (error)
      throw UserError({path, 0, 0, ""},
                      fmt::format("cannot read the directory: {}", error.message()));
    if (names.empty())
      throw UserError({path, 0, 0, ""}, "holds no .npy files",
                      "save one array an input, named after it");
    for (const std::string &name : names) {
      Tensor array = readNpy(sourceLocationOf(data, name).file, left);
      left -= array.bytes.size();
      data.arrays.emplace(name, std::move(array));
    }
  }
  return data;
}

CalibrationData randomCalibration(ModuleOp module, int64_t samples, uint64_t seed) {
  func::FuncOp main = mainOf(module);
  CalibrationData data;
  std::mt19937_64 random(seed);
  // std::normal_distribution differs between libraries: Box and Muller's formula does not.
  auto uniform = [&] { return (double(random() >> 11) + 0.5) / double(uint64_t(1) << 53); };
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    std::vector<int64_t> shape = tensorType(main.getArgument(i)).getShape().vec();
    shape.insert(shape.begin(), samples);
    if (!isFloat(main.getArgument(i))) { // zeros, which are indices of anything
      Tensor &tensor = data.arrays[nameOf(main, i)] = makeTensor(DType::I32, shape);
      if (isCastAlone(main, main.getArgument(i))) { // any of 8 bits
        const Parameters bytes = *bytesOf(main, main.getArgument(i));
        for (int64_t k = 0; k < tensor.elements(); ++k)
          tensor.data<int32_t>()[k] =
              static_cast<int32_t>(random() & 255) + static_cast<int32_t>(bytes.lowest());
      }
      continue;
    }
    constexpr double reach = 3; // deviations, of the range that the model says
    const std::optional<Parameters> given = givenBehind(main.getArgument(i));
    const double deviation = given ? std::max(-given->lowest(), given->highest()) / reach : 1;
    Tensor tensor = makeTensor(DType::F32, shape);
    for (int64_t k = 0; k < tensor.elements(); ++k) {
      double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
      tensor.data<float>()[k] = static_cast<float>(deviation * radius * std::cos(angle));
    }
    data.arrays[nameOf(main, i)] = std::move(tensor);
  }
  return data;
}

} // namespace tilewright
