#include "calibration_data.h"

#include "graph_queries.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

using namespace mlir;

namespace tilewright::quantization {

namespace {

std::string nameOf(func::FuncOp main, unsigned argument) {
  auto name = main.getArgAttrOfType<StringAttr>(argument, "tilewright.name");
  return name ? name.getValue().str() : fmt::format("arg{}", argument);
}

// As float32, which the model takes; NumPy makes float64 and integers easily.
Tensor toFloat(const Tensor &tensor, const Place &place) {
  Tensor result = makeTensor(DType::F32, tensor.shape);
  auto convert = [&](auto *values) {
    std::copy(values, values + tensor.elements(), result.data<float>());
  };
  switch (tensor.dtype) {
  case DType::F32:
    return tensor;
  case DType::F64:
    convert(tensor.data<double>());
    return result;
  case DType::U8:
    convert(tensor.data<uint8_t>());
    return result;
  case DType::I8:
    convert(tensor.data<int8_t>());
    return result;
  case DType::I32:
    convert(tensor.data<int32_t>());
    return result;
  case DType::I64:
    convert(tensor.data<int64_t>());
    return result;
  default:
    throw UserError(place,
                    fmt::format("has type {}, and the model takes float32", name(tensor.dtype)));
  }
}

// How many samples `data` holds for an input of this shape; throws when it does not fit.
int64_t sampleCount(const Tensor &data, ArrayRef<int64_t> shape, const Place &place) {
  ArrayRef<int64_t> row(data.shape);
  if (!row.empty()) {
    row = row.drop_front();
    if (row == shape || (!shape.empty() && shape[0] == 1 && row == shape.drop_front()))
      return data.shape[0];
  }
  throw UserError(place,
                  fmt::format("has shape ({}), and the model's input is ({})",
                              fmt::join(data.shape, ", "), fmt::join(shape, ", ")),
                  "give one sample a row: [samples, ...input shape]");
}

// Throws UserError when a number of an array, which is read from a file at `path`, is none.
void requireFinite(const std::string &path, const std::string &name, const Tensor &tensor) {
  auto check = [&](auto *values) {
    int64_t count = tensor.elements();
    auto found = std::find_if_not(values, values + count,
                                  [](auto value) { return std::isfinite(float(value)); });
    if (found == values + count)
      return;
    int64_t row = tensor.shape.empty() ? count : count / tensor.shape[0];
    throw UserError({path, 0, 0, fmt::format("calibration input '{}'", escape(name))},
                    fmt::format("sample {} holds {}, which is no finite number",
                                (found - values) / row, float(*found)),
                    "leave that sample out");
  };
  if (tensor.dtype == DType::F32)
    check(tensor.data<float>());
  else if (tensor.dtype == DType::F64)
    check(tensor.data<double>());
}

} // namespace

Samples samplesOf(func::FuncOp main, const CalibrationData &data) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    names.push_back(nameOf(main, i));
  auto placeOfInput = [](const std::string &name) {
    return Place{"", 0, 0, fmt::format("calibration input '{}'", escape(name))};
  };
  for (auto &[name, tensor] : data)
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string near = nearest(name, names);
      throw UserError(placeOfInput(name), "is no input of the model",
                      near.empty() ? "" : fmt::format("did you mean '{}'?", escape(near)));
    }
  Samples samples;
  for (unsigned i = 0; i < names.size(); ++i) {
    Place place = placeOfInput(names[i]);
    auto found = data.find(names[i]);
    if (found == data.end())
      throw UserError(place, "is missing", "give an array of that name");
    if (!isFloat(main.getArgument(i)))
      throw UserError(place, "is no floating-point input, and only those can be quantized");
    auto shape = tensorType(main.getArgument(i)).getShape();
    int64_t count = sampleCount(found->second, shape, place);
    if (count == 0)
      throw UserError(place, "holds no samples");
    if (i > 0 && count != static_cast<int64_t>(samples.size()))
      throw UserError(place, fmt::format("holds {} samples, and '{}' holds {}", count,
                                         escape(names[0]), samples.size()));
    samples.resize(count);
    Tensor all = toFloat(found->second, place);
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
  constexpr uint64_t limit = uint64_t(256) << 20;
  std::error_code error;
  CalibrationData data;
  if (!std::filesystem::is_directory(path, error)) {
    data = readNpz(path, limit);
    for (auto &[name, tensor] : data)
      requireFinite(path, name, tensor);
    return data;
  }
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".npy") {
      Tensor &tensor = data[entry->path().stem().string()];
      tensor = readNpy(entry->path().string(), limit);
      requireFinite(entry->path().string(), entry->path().stem().string(), tensor);
    }
  if (error)
    throw UserError({path, 0, 0, ""},
                    fmt::format("cannot read the directory: {}", error.message()));
  if (data.empty())
    throw UserError({path, 0, 0, ""}, "holds no .npy files",
                    "save one array an input, named after it");
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
    Tensor tensor = makeTensor(DType::F32, shape);
    for (int64_t k = 0; k < tensor.elements(); ++k) {
      double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
      tensor.data<float>()[k] = static_cast<float>(radius * std::cos(angle));
    }
    data[nameOf(main, i)] = std::move(tensor);
  }
  return data;
}

} // namespace tilewright
