// Compares imported models with expected outputs: onnx-oracle CASE_DIRECTORY...
// Says of each model whether the importer takes it: onnx-oracle --import MODEL.onnx...
//
// A case holds model.onnx, in_0.npy, in_1.npy, ... and out_0.npy, ... Each model runs in floating
// point twice, as imported and after the graph passes. Prints a line for every case, `NAME: ok` or
// `NAME: what is wrong`; exit code 3 when one is wrong. With --import, `NAME: taken` or `NAME:
// refused: DIAGNOSTIC`.
#include "tilewright/compiler/float/float_execution.h"
#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/support/error.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

// Element-wise sequences of TOSA round differently from onnxruntime's fused kernels, sums are taken
// in another order.
constexpr double tolerance = 2e-5;

std::vector<Tensor> readAll(const std::filesystem::path &directory, const std::string &stem) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    std::filesystem::path file = directory / fmt::format("{}_{}.npy", stem, i);
    if (!std::filesystem::exists(file))
      return tensors;
    tensors.push_back(readNpy(file));
  }
}

// What is wrong with `actual`; "" when nothing is. Errors count relative to the largest value
// expected.
std::string compare(const Tensor &expected, const Tensor &actual) {
  if (expected.shape != actual.shape)
    return fmt::format("shape {} instead of {}", fmt::join(actual.shape, "x"),
                       fmt::join(expected.shape, "x"));
  double largest = 1, worst = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double want = expected.data<float>()[i], have = actual.data<float>()[i];
    if (std::isnan(want) != std::isnan(have))
      return fmt::format("element {} is {} instead of {}", i, have, want);
    if (want == have || std::isnan(want))
      continue;
    largest = std::max(largest, std::abs(want));
    worst = std::max(worst, std::abs(want - have));
  }
  return worst <= tolerance * largest
             ? ""
             : fmt::format("an element is {} off, the largest is {}", worst, largest);
}

std::string compareRun(mlir::ModuleOp module, const std::vector<Tensor> &inputs,
                       const std::vector<Tensor> &expected) {
  std::vector<Tensor> actual = FloatExecutable::create(module)->run(inputs);
  if (actual.size() != expected.size())
    return fmt::format("{} outputs instead of {}", actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::string fault = compare(expected[i], actual[i]); !fault.empty())
      return fmt::format("output {}: {}", i, fault);
  return "";
}

std::string check(const std::filesystem::path &directory) {
  std::vector<Tensor> inputs = readAll(directory, "in"), expected = readAll(directory, "out");
  mlir::MLIRContext context;
  ImportOptions options;
  for (size_t i = 0; i < inputs.size(); ++i)
    options.shapes[fmt::format("in_{}", i)] = inputs[i].shape;
  auto module = importModel(directory / "model.onnx", options, context);
  if (std::string fault = compareRun(*module, inputs, expected); !fault.empty())
    return "as imported: " + fault;
  mlir::PassManager passes(&context);
  passes.addPass(createGraphLayoutPass());
  passes.addPass(createGraphFoldPass());
  passes.addPass(createGraphDecomposePass());
  if (mlir::failed(passes.run(*module)))
    return "the graph passes fail";
  if (std::string fault = compareRun(*module, inputs, expected); !fault.empty())
    return "after the graph passes: " + fault;
  return "";
}

// What the importer says of a model, on one line.
std::string verdict(const std::string &path) {
  mlir::MLIRContext context;
  try {
    importModel(path, {}, context);
  } catch (const UserError &error) {
    return "refused: " + error.diagnostic().substr(0, error.diagnostic().find('\n'));
  } catch (const std::exception &error) {
    return error.what();
  }
  return "taken";
}

} // namespace

} // namespace tilewright

int main(int count, char **arguments) {
  bool failed = false;
  if (count > 1 && std::string(arguments[1]) == "--import") {
    for (int i = 2; i < count; ++i)
      fmt::print("{}: {}\n", std::filesystem::path(arguments[i]).filename().string(),
                 tilewright::verdict(arguments[i]));
    return 0;
  }
  for (int i = 1; i < count; ++i) {
    std::filesystem::path directory = arguments[i];
    std::string fault;
    try {
      fault = tilewright::check(directory);
    } catch (const std::exception &error) {
      fault = error.what();
    }
    failed |= !fault.empty();
    fmt::print("{}: {}\n", directory.filename().string(), fault.empty() ? "ok" : fault);
  }
  return failed ? 3 : 0;
}
