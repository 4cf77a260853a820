// tilewright compile: a model to a program.
#include "commands.h"
#include "standard_streams.h"
#include "tensor_spec.h"
#include "tilewright/compiler/driver.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tilewright {

namespace {
struct Options {
  CompileOptions compile;
  std::string output;
  std::vector<std::string> shapes;
  std::string method = "min-max";
  std::string buffering = "double";
  bool quiet = false;
};
} // namespace

// NAME=1x3x48x192
static std::pair<std::string, std::vector<int64_t>> parseShape(const std::string &text) {
  size_t equals = text.rfind('=');
  std::vector<int64_t> shape;
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UserError({}, fmt::format("--shape '{}' is not NAME=SIZExSIZEx...", escape(text)), "for example --shape x=1x3x224x224");
  std::string sizes = text.substr(equals + 1);
  for (size_t at = 0; at <= sizes.size();) {
    size_t end = std::min(sizes.find('x', at), sizes.size());
    uint64_t size = parseNumber("--shape", sizes.substr(at, end - at));
    if (size < 1 || size > (uint64_t(1) << 31))
      throw UserError({}, fmt::format("--shape '{}': a size is from 1 to 2147483648", escape(text)));
    shape.push_back(static_cast<int64_t>(size));
    at = end + 1;
  }
  return {text.substr(0, equals), shape};
}

static void runCompile(Options &options) {
  CompileOptions &compile = options.compile;
  for (const std::string &text : options.shapes) {
    auto [name, shape] = parseShape(text);
    if (!compile.shapes.emplace(name, shape).second)
      throw UserError({}, fmt::format("--shape names '{}' twice", escape(name)));
  }
  compile.quantization.method = options.method == "min-max"      ? Calibration::MinMax
                                : options.method == "percentile" ? Calibration::Percentile
                                : options.method == "mse"        ? Calibration::Mse
                                                                 : Calibration::Entropy;
  compile.buffering = options.buffering == "none" ? Buffering::None : options.buffering == "single" ? Buffering::Single : Buffering::Double;
  if (options.output.empty() && compile.emit == "elf")
    throw UserError({}, "no place for the program", "give -o FILE, or --emit tosa, kernel, npu or asm to print a stage");
  CompileResult result = tilewright::compile(compile);
  for (const std::string &warning : result.warnings)
    printError(fmt::format("{}: warning: {}\n", escape(compile.model), warning));
  if (options.output.empty())
    print(result.output);
  else
    writeFile(options.output, result.output);
  if (options.quiet || options.output.empty() || options.output == "-")
    return;
  if (!result.quantization.layers.empty()) {
    print("signal-to-quantization-noise ratio by layer (dB)\n");
    for (const LayerSqnr &layer : result.quantization.layers)
      print(fmt::format("  {:>7.2f}  {} ({})\n", layer.decibels, escape(layer.layer), escape(layer.op)));
  }
  print(result.summary);
}

void addCompileCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("compile", "Compile a model (.onnx, or TOSA as .mlir) to an accelerator program");
  command->add_option("model", options->compile.model, "The model")->required()->type_name("MODEL");
  command->add_option("-o,--output", options->output, "Where the program (or the stage of --emit) goes; - is standard output")->type_name("FILE");
  command->add_option("--target", options->compile.target, "A shipped target's name or a YAML file")->capture_default_str()->type_name("NAME|FILE");
  command->add_option("--what-if", options->compile.overlays, "An overlay on the description; may be repeated")->type_name("FILE")->expected(1)->take_all();
  command->add_option("--shape", options->shapes, "The shape of an input with dynamic dimensions; may be repeated")->type_name("NAME=1x3x48x192")->expected(1)->take_all();
  command->add_option("--calibration", options->compile.calibration, "Calibration data: one array an input, a sample a row")->type_name("FILE.npz|DIR");
  command->add_option("--calibration-method", options->method, "How ranges come from the data")
      ->check(CLI::IsMember({"min-max", "percentile", "mse", "entropy"}))
      ->capture_default_str();
  command->add_option("--quantize", options->compile.quantize, "How a float model becomes integer")->check(CLI::IsMember({"int8", "none"}))->capture_default_str();
  command->add_option("--emit", options->compile.emit, "The stage to write")->check(CLI::IsMember({"tosa", "kernel", "asm", "elf"}))->capture_default_str();
  command->add_option("--buffering", options->buffering, "How far loads run ahead of compute")
      ->check(CLI::IsMember({"none", "single", "double"}))
      ->capture_default_str();
  command->add_option("--seed", options->compile.seed, "Seed of random calibration samples")->capture_default_str();
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but warnings and errors");
  command->callback([options] { runCompile(*options); });
}

} // namespace tilewright
