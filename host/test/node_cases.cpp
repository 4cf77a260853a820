// host-node-cases DIRECTORY...: runs ONNX's node tests (a model, and inputs and outputs beside it
// in test_data_set_0) on the host, and says of each "NAME: equal" or "NAME: " and what is wrong.
// Numbers may differ as onnx.backend.test allows: by 1e-7 and 1e-3 of what is expected.
#include "tilewright/host/elements.h"
#include "tilewright/host/execution.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace tilewright {

static host::Value readValue(const std::filesystem::path &file, const onnx::GraphValue &value) {
  return onnx::readValueFile(file, readFile(file), value.type);
}

// Empty when they are equal.
static std::string difference(const Tensor &got, const Tensor &wanted) {
  if (got.dtype != wanted.dtype)
    return fmt::format("is of {} in place of {}", name(got.dtype), name(wanted.dtype));
  if (got.shape != wanted.shape)
    return fmt::format("has the shape {} in place of {}", formatShape(got.shape),
                       formatShape(wanted.shape));
  if (!host::isFloat(got.dtype))
    return got.bytes == wanted.bytes ? "" : "has other integers";
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double a = host::floatAt(got, i), b = host::floatAt(wanted, i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    if (!(std::fabs(a - b) <= 1e-7 + 1e-3 * std::fabs(b)))
      return fmt::format("is {} in place of {} at {}", a, b, i);
  }
  return "";
}

static std::string difference(const host::Value &got, const host::Value &wanted) {
  if (got.tensor() && wanted.tensor())
    return difference(*got.tensor(), *wanted.tensor());
  if (got.isEmpty() && wanted.isEmpty())
    return "";
  if (!got.sequence() || !wanted.sequence())
    return "is of another kind";
  if (got.sequence()->size() != wanted.sequence()->size())
    return fmt::format("has {} elements in place of {}", got.sequence()->size(),
                       wanted.sequence()->size());
  for (size_t i = 0; i < got.sequence()->size(); ++i)
    if (std::string text = difference(*(*got.sequence())[i], *(*wanted.sequence())[i]);
        !text.empty())
      return fmt::format("element {} {}", i, text);
  return "";
}

static std::string verdict(const std::filesystem::path &directory) {
  const std::string file = directory / "model.onnx";
  const onnx::Model model = onnx::readModel(file, readFile(file), false);
  const std::filesystem::path data = directory / "test_data_set_0";
  std::map<std::string, host::Value> inputs;
  for (size_t i = 0; i < model.inputs.size(); ++i)
    inputs[model.inputs[i].name] = readValue(data / fmt::format("input_{}.pb", i), model.inputs[i]);
  const std::vector<host::Value> outputs = host::runValues(model, file, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i])
      return fmt::format("output {} has no value", i);
    const host::Value wanted = readValue(data / fmt::format("output_{}.pb", i), model.outputs[i]);
    if (std::string text = difference(outputs[i], wanted); !text.empty())
      return fmt::format("output {} {}", i, text);
  }
  return "equal";
}

} // namespace tilewright

int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path directory = arguments[i];
    std::string text;
    try {
      text = tilewright::verdict(directory);
    } catch (const std::exception &error) {
      text = error.what();
    }
    fmt::print("{}: {}\n", directory.filename().string(), text);
    std::fflush(stdout); // what a crash leaves unsaid is the next one's
  }
}
