#include "prepare.h"

#include "bytecode.h"

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/simulator/kernels/object_cache.h"
#include "tilewright/support/cache_folder.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/process.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tilewright::explore {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

const std::map<std::string, Precision> precisions = {{"automatic", Precision::Automatic},
                                                     {"standard", Precision::Standard},
                                                     {"mixed", Precision::Mixed},
                                                     {"extended", Precision::Extended}};

std::string contentOf(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return readFile(path);
  std::vector<std::string> files;
  for (const auto &entry : fs::directory_iterator(path, error))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string &file : files)
    if (fs::is_regular_file(file, error))
      all += file.substr(path.size()) + '\0' + sha256(readFile(file)) + '\n';
  return all;
}

fs::path folderOfExplore() {
  const std::string folder = cacheFolder("explore");
  return folder.empty() ? fs::temp_directory_path() / "tilewright-explore" : fs::path(folder);
}

// models/synthetic's network, made when its sources have changed: the model and its samples.
std::pair<std::string, std::string> madeNetwork(const std::string &network,
                                                const SourceLocation &location) {
  const fs::path models = std::getenv("TILEWRIGHT_MODELS") != nullptr
                              ? std::getenv("TILEWRIGHT_MODELS")
                              : TILEWRIGHT_MODELS_SOURCE;
  const fs::path script = models / "synthetic";
  std::error_code error;
  if (!fs::exists(script, error))
    throw UserError(location,
                    fmt::format("the network '{}' cannot be made: {} is not there", escape(network),
                                script.string()),
                    "set TILEWRIGHT_MODELS to the folder with models/synthetic");
  const std::string sources =
      sha256(contentOf(script.string()) + contentOf((models / "lib").string()));
  const fs::path folder = folderOfExplore() / "networks";
  fs::create_directories(folder, error);
  const std::string stem = (folder / (network + "-" + sources.substr(0, 16))).string();
  const std::string model = stem + ".onnx", samples = stem + ".npz";
  if (fs::exists(model, error) && fs::exists(samples, error))
    return {model, samples};
  const std::string part = fmt::format("{}.{}", stem, ::getpid());
  ProcessOptions streams;
  streams.output = STDERR_FILENO;
  if (!runProgram({script.string(), network, "-o", part + ".onnx", "--samples", part + ".npz"},
                  streams)
           .isSuccess())
    throw UserError(
        location, fmt::format("the network '{}' was not made", escape(network)),
        "models/synthetic --list prints the networks; it needs .venv, which scripts/setup makes");
  fs::rename(part + ".npz", samples);
  fs::rename(part + ".onnx", model);
  return {model, samples};
}

CompileOptions optionsOf(const Workload &workload) {
  CompileOptions options;
  options.model = workload.model;
  options.calibration = workload.calibration;
  if (!workload.network.empty())
    std::tie(options.model, options.calibration) = madeNetwork(workload.network, workload.location);
  options.shapes = workload.shapes;
  options.quantization.precision = precisions.at(workload.precision);
  options.to = Stage::Tosa;
  return options;
}

std::string keyOf(const CompileOptions &options, const std::string &precision,
                  const std::string &toolHash) {
  std::string text = "tilewright workload 1\n" + toolHash + "\n" +
                     sha256(contentOf(options.model)) + "\n" + precision + "\n";
  if (!options.calibration.empty())
    text += sha256(contentOf(options.calibration)) + "\n";
  for (const auto &[name, sizes] : options.shapes)
    text += fmt::format("{}\n{}\n", name, fmt::join(sizes, "x"));
  return sha256(text);
}

} // namespace

Prepared prepare(const Workload &workload, const std::string &toolHash) {
  const CompileOptions options = optionsOf(workload);
  const std::string key = keyOf(options, workload.precision, toolHash);
  const kernels::ObjectCache cache((folderOfExplore() / "models").string());
  // A line of figures, and the module behind it.
  if (const std::optional<std::string> kept = cache.load(key)) {
    const size_t end = kept->find('\n');
    const Json figures = Json::parse(kept->substr(0, end));
    return {networkFrom(figures.at("network")), kept->substr(end + 1), figures.at("warnings")};
  }
  const CompileResult compiled = compile(options);
  Prepared prepared{{}, bytecodeOf(options.model, compiled.output), compiled.warnings};
  prepared.network = networkOfTosa(options.model, prepared.module);
  const Json figures = {{"network", toJson(prepared.network)}, {"warnings", prepared.warnings}};
  cache.store(key, figures.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" +
                       prepared.module);
  return prepared;
}

} // namespace tilewright::explore
