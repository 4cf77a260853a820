// tilewright compile: from a model to a program, or to a stage before it.
#include "compile_command.h"
#include "keep_memory.h"
#include "standard_streams.h"
#include "status_line.h"
#include "tilewright/compiler/driver/driver.h"
#include "tilewright/compiler/frontend/model_formats.h"
#include "tilewright/support/error.h"
#include "tilewright/support/outputs.h"
#include "tilewright/support/table.h"
#include "tune_text.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace tilewright {

namespace {
struct Request {
  CompileOptions compile;
  std::vector<std::string> shapes, constants, images;
  std::string calibrationMethod = "min-max";
  std::string precision = "automatic";
  std::string maxLoss; // a number, and perhaps dB
  std::string weightRounding = "together";
  std::string quantizationJson;
  std::string buffering = "double";
  std::string search = "model";
  std::string from, to, emit = "elf"; // names of stages; empty: not given
  std::string output = "-", phases;
  bool plan = false;
  std::string explainSelection; // "summary", "all"; empty: not asked for
  bool timing = false;
};
} // namespace

static const std::map<std::string, Calibration> calibrationMethods = {
    {"min-max", Calibration::MinMax},
    {"percentile", Calibration::Percentile},
    {"mse", Calibration::Mse},
    {"entropy", Calibration::Entropy}};
static const std::map<std::string, Precision> precisions = {{"automatic", Precision::Automatic},
                                                            {"standard", Precision::Standard},
                                                            {"mixed", Precision::Mixed},
                                                            {"extended", Precision::Extended}};
static const std::map<std::string, Buffering> bufferings = {
    {"none", Buffering::None}, {"single", Buffering::Single}, {"double", Buffering::Double}};

static const std::map<std::string, SearchKind> searches = {{"model", SearchKind::Model},
                                                           {"random", SearchKind::Random}};

// NAME=1x3x48x192; the name may hold equals signs, the sizes cannot.
static std::pair<std::string, std::vector<int64_t>> parseShape(const std::string &text) {
  size_t equals = text.rfind('=');
  std::vector<int64_t> sizes;
  bool valid = equals != std::string::npos && equals > 0;
  for (size_t begin = equals + 1; valid && begin <= text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    int64_t size = 0;
    auto [stop, failure] = std::from_chars(text.data() + begin, text.data() + end, size);
    valid = failure == std::errc() && stop == text.data() + end && size >= 1;
    sizes.push_back(size);
    begin = end + 1;
  }
  if (!valid)
    throw CLI::ValidationError(
        "--shape",
        fmt::format("'{}' is not NAME=SIZExSIZE..., with sizes of at least 1", escape(text)));
  return {text.substr(0, equals), sizes};
}

// NAME=FILE.npy; the name may hold equals signs, the file cannot.
static std::pair<std::string, std::string> parseConstant(const std::string &text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CLI::ValidationError("--constant",
                               fmt::format("'{}' is not NAME=FILE.npy", escape(text)));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// MEAN,.../DEVIATION,...: numbers, deviations above zero.
static std::vector<double> parseNumbers(std::string_view text, bool mustBePositive) {
  std::vector<double> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    double number = 0;
    const std::string each(text.substr(begin, end - begin));
    if (!CLI::detail::lexical_cast(each, number) || !std::isfinite(number) ||
        (mustBePositive && number <= 0))
      return {};
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

// NAME=MEAN,.../DEVIATION,...; the name may hold equals signs, the numbers cannot.
static std::pair<std::string, onnx::Normalization> parseImage(const std::string &text) {
  const size_t equals = text.rfind('=');
  onnx::Normalization normalization;
  if (equals != std::string::npos && equals > 0) {
    const std::string_view numbers = std::string_view(text).substr(equals + 1);
    const size_t slash = std::min(numbers.find('/'), numbers.size());
    normalization.means = parseNumbers(numbers.substr(0, slash), false);
    if (slash < numbers.size())
      normalization.deviations = parseNumbers(numbers.substr(slash + 1), true);
  }
  if (normalization.means.empty() || normalization.deviations.empty())
    throw CLI::ValidationError("--image",
                               fmt::format("'{}' is not NAME=MEAN,.../DEVIATION,..., with "
                                           "deviations above 0",
                                           escape(text)));
  return {text.substr(0, equals), normalization};
}

// 1, 1.5 or 1dB.
static double parseDecibels(const std::string &text) {
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  if (failure != std::errc() || (!unit.empty() && unit != "dB") || !std::isfinite(value) ||
      value < 0)
    throw CLI::ValidationError("--max-loss",
                               fmt::format("'{}' is no number of dB, 0 or more", escape(text)));
  return value;
}

// Between which stages an option means something: --compile-from is no later than `last`, and
// --compile-to is `first` at least. An option that says how a later stage is made may stand where
// none is: scripts give the same options for each stage. One that prints may not, nor the tuner's.
struct Effect {
  const char *option;
  Stage first, last;
};
static constexpr Effect effects[] = {{"--shape", Stage::Import, Stage::Import},
                                     {"--accelerator-only", Stage::Import, Stage::Import},
                                     {"--constant", Stage::Import, Stage::Import},
                                     {"--image", Stage::Import, Stage::Import},
                                     {"--seed", Stage::Import, Stage::Import},
                                     {"--quantize", Stage::Import, Stage::Import},
                                     {"--calibration", Stage::Import, Stage::Import},
                                     {"--calibration-method", Stage::Import, Stage::Import},
                                     {"--percentile", Stage::Import, Stage::Import},
                                     {"--precision", Stage::Import, Stage::Import},
                                     {"--max-loss", Stage::Tosa, Stage::Import},
                                     {"--max-cycles", Stage::Tosa, Stage::Import},
                                     {"--no-equalization", Stage::Import, Stage::Import},
                                     {"--no-bias-correction", Stage::Import, Stage::Import},
                                     {"--weight-rounding", Stage::Import, Stage::Import},
                                     {"--quantization-json", Stage::Tosa, Stage::Import},
                                     {"--quantization-report", Stage::Tosa, Stage::Import},
                                     {"--explain-selection", Stage::Kernel, Stage::Kernel},
                                     {"--target", Stage::Import, Stage::Kernel},
                                     {"--what-if", Stage::Import, Stage::Kernel},
                                     {"--buffering", Stage::Import, Stage::Kernel},
                                     {"--no-fusion", Stage::Import, Stage::Kernel},
                                     {"--tune", Stage::Npu, Stage::Kernel},
                                     {"--tune-search", Stage::Npu, Stage::Kernel},
                                     {"--tune-database", Stage::Npu, Stage::Kernel},
                                     {"--plan", Stage::Npu, Stage::Elf}};

static constexpr std::array quantizerOptions = {
    "--calibration",     "--calibration-method", "--percentile",
    "--precision",       "--max-loss",           "--max-cycles",
    "--no-equalization", "--no-bias-correction", "--weight-rounding"};
static constexpr std::array quantizerReports = {"--quantization-report", "--quantization-json"};

// The first of `options` that is given; empty: none.
template <typename Options>
static std::string givenOf(const CLI::App &command, const Options &options) {
  const auto given = std::find_if(options.begin(), options.end(),
                                  [&](const char *option) { return command.count(option) > 0; });
  return given == options.end() ? "" : *given;
}

// Where the pipeline begins and ends; contradictions are refused.
static void setStages(const Request &request, const CLI::App &command, CompileOptions &options) {
  bool both = command.count("--emit") > 0 && !request.to.empty();
  if (both && request.emit != request.to)
    throw CLI::ValidationError("--compile-to",
                               fmt::format("'{}' contradicts --emit {}", request.to, request.emit));
  options.to = *stageNamed(request.to.empty() ? request.emit : request.to);
  options.from = request.from.empty() ? Stage::Import : *stageNamed(request.from);
  if (options.from > options.to)
    throw CLI::ValidationError(
        "--compile-from",
        fmt::format("'{}' is behind the stage to write, {}", name(options.from), name(options.to)));
  for (auto [option, first, last] : effects) {
    const bool isTunersSeed = options.tune.trials > 0 && option == std::string_view("--seed");
    if (command.count(option) == 0 || isTunersSeed)
      continue;
    if (options.from > last)
      throw CLI::ValidationError(
          option, fmt::format("has no effect with --compile-from {}", name(options.from)));
    if (options.to < first)
      throw CLI::ValidationError(
          option, fmt::format("has no effect with --compile-to {}", name(options.to)));
  }
}

// Options that others leave without an effect.
static void checkTogether(const CLI::App &command, const CompileOptions &options) {
  auto refuse = [&](const char *option, const char *why) {
    if (command.count(option) > 0)
      throw CLI::ValidationError(option, fmt::format("has no effect {}", why));
  };
  if (options.quantize == "none") {
    for (const char *option : quantizerOptions)
      refuse(option, "with --quantize none");
    for (const char *option : quantizerReports)
      refuse(option, "with --quantize none");
  }
  if (options.tune.trials == 0) {
    refuse("--tune-search", "without --tune");
    refuse("--tune-database", "without --tune");
  }
  if (options.quantization.maxLoss || options.quantization.maxCycles) {
    const char *budget = options.quantization.maxLoss ? "--max-loss" : "--max-cycles";
    if (options.quantization.precision != Precision::Automatic)
      throw CLI::ValidationError(budget, "decides the precision: leave out --precision");
    if (options.calibration.empty())
      throw CLI::ValidationError(budget, "measures on samples: give --calibration");
  }
  if (options.quantization.method != Calibration::Percentile)
    refuse("--percentile", "without --calibration-method percentile");
}

// What prints needs standard output for itself.
static void checkPrinted(const Request &request, const CLI::App &command) {
  if (!isStandardOutput(request.output))
    return;
  for (const char *option : {"--timing", "--quantization-report", "--explain-selection", "--plan"})
    if (command.count(option) > 0)
      throw CLI::ValidationError(option, "prints to standard output: give -o FILE");
}

static CompileOptions optionsOf(const Request &request, const CLI::App &command) {
  CompileOptions options = request.compile;
  for (const std::string &text : request.shapes) {
    auto [name, sizes] = parseShape(text);
    if (!options.shapes.emplace(name, sizes).second)
      throw CLI::ValidationError("--shape", fmt::format("'{}' is given twice", escape(name)));
  }
  for (const std::string &text : request.constants)
    if (auto [name, file] = parseConstant(text); !options.constants.emplace(name, file).second)
      throw CLI::ValidationError("--constant", fmt::format("'{}' is given twice", escape(name)));
  for (const std::string &text : request.images)
    if (auto [name, picture] = parseImage(text); !options.pictures.emplace(name, picture).second)
      throw CLI::ValidationError("--image", fmt::format("'{}' is given twice", escape(name)));
    else if (options.constants.count(name) > 0)
      throw CLI::ValidationError(
          "--image",
          fmt::format("'{}' is given with --constant, which leaves no input", escape(name)));
  options.quantization.method = calibrationMethods.at(request.calibrationMethod);
  options.quantization.precision = precisions.at(request.precision);
  if (command.count("--max-loss") > 0)
    options.quantization.maxLoss = parseDecibels(request.maxLoss);
  options.quantization.roundsTogether = request.weightRounding == "together";
  options.quantizerOption = givenOf(command, quantizerOptions);
  options.quantizerReport = givenOf(command, quantizerReports);
  options.quantization.layerReport |= !request.quantizationJson.empty();
  options.buffering = bufferings.at(request.buffering);
  options.tune.search = searches.at(request.search);
  options.tune.seed = options.seed;
  setStages(request, command, options);
  checkTogether(command, options);
  if (options.to == Stage::Elf && command.count("-o") == 0)
    throw CLI::RequiredError("-o");
  options.explainsAll = request.explainSelection == "all";
  checkPrinted(request, command);
  return options;
}

// Before the work: a place that cannot be written should not cost a compilation.
static void declare(Outputs &outputs, const Request &request, const CompileOptions &options) {
  outputs.reads("MODEL", options.model);
  std::error_code none;
  if (std::filesystem::exists(options.target, none)) // else it is a shipped one's name
    outputs.reads("--target", options.target);
  for (const std::string &overlay : options.overlays)
    outputs.reads("--what-if", overlay);
  for (const auto &[name, file] : options.constants)
    outputs.reads("--constant", file);
  outputs.reads("--calibration", options.calibration);
  for (std::filesystem::directory_iterator each(options.calibration, none), end; each != end;
       each.increment(none))
    if (each->path().extension() == ".npy")
      outputs.reads("--calibration", each->path().string());
  outputs.reads("--tune-database", options.tune.database);
  outputs.directory("--dump-phases", request.phases);
  outputs.file("-o", request.output);
  outputs.file("--quantization-json", request.quantizationJson);
}

static std::string nameOf(Precision precision) {
  for (const auto &[name, known] : precisions)
    if (known == precision)
      return name;
  return {};
}

// "standard, 16 bits for 3 tensors"
static std::string nameOf(const TriedPrecision &tried) {
  std::string name = nameOf(tried.precision);
  if (tried.exactTensors > 0)
    name += fmt::format(", 16 bits for {} tensor{}", tried.exactTensors,
                        tried.exactTensors == 1 ? "" : "s");
  return name;
}

static std::string tableOf(const BudgetReport &budget) {
  Table tried, tensors;
  for (auto [title, align] : {std::pair("precision", Table::Align::Left),
                              {"dB", Table::Align::Right},
                              {"cycles", Table::Align::Right},
                              {"", Table::Align::Left}})
    tried.column(title, align);
  for (size_t i = 0; i < budget.tried.size(); ++i)
    tried.row({nameOf(budget.tried[i]), fmt::format("{:.1f}", budget.tried[i].decibels),
               fmt::format("{}", budget.tried[i].cycles), i == budget.chosen ? "taken" : ""});
  for (auto [title, align] : {std::pair("16 bits for", Table::Align::Left),
                              {"gain, dB", Table::Align::Right},
                              {"more cycles", Table::Align::Right},
                              {"", Table::Align::Left}})
    tensors.column(title, align);
  for (const Sensitivity &each : budget.tensors)
    tensors.row({fmt::format("{} ({})", escape(each.layer), escape(each.op)),
                 fmt::format("{:.2f}", each.gain), fmt::format("{}", each.cycles),
                 each.isExact ? "taken" : ""});
  return fmt::format("ranges of {} calibration samples, dB of the outputs on {} held back\n",
                     budget.samples, budget.heldBack) +
         tried.str() + (budget.tensors.empty() ? "" : tensors.str());
}

static std::string jsonOf(const CompileResult &result) {
  const QuantizationReport &quantization = result.quantization;
  nlohmann::ordered_json json;
  if (const auto &choice = quantization.choice) {
    nlohmann::ordered_json &to = json["choice"];
    to = {{"precision", nameOf(choice->precision)}, {"standard_db", choice->standard}};
    if (choice->withExactOperands)
      to["with_exact_operands_db"] = *choice->withExactOperands,
      to["exact_operands"] = choice->exactOperands;
    if (choice->mixed)
      to["mixed_db"] = *choice->mixed;
    if (choice->extended)
      to["extended_db"] = *choice->extended;
  }
  if (const auto &budget = quantization.budget) {
    nlohmann::ordered_json &to = json["budget"];
    to = {{"samples", budget->samples}, {"held_back", budget->heldBack}};
    for (const TriedPrecision &each : budget->tried)
      to["tried"].push_back({{"precision", nameOf(each.precision)},
                             {"exact_tensors", each.exactTensors},
                             {"db", each.decibels},
                             {"cycles", each.cycles}});
    to["chosen"] = budget->chosen;
    to["tensors"] = nlohmann::ordered_json::array();
    for (const Sensitivity &each : budget->tensors)
      to["tensors"].push_back({{"layer", each.layer},
                               {"op", each.op},
                               {"gain_db", each.gain},
                               {"more_cycles", each.cycles},
                               {"exact", each.isExact}});
  }
  json["layers"] = nlohmann::ordered_json::array();
  for (const LayerSqnr &layer : quantization.layers)
    json["layers"].push_back({{"layer", layer.layer}, {"op", layer.op}, {"db", layer.decibels}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

static std::string tableOf(const CompileResult &result, bool withLayers) {
  const QuantizationReport &quantization = result.quantization;
  std::string table;
  if (quantization.budget)
    table += tableOf(*quantization.budget);
  if (const auto &choice = quantization.choice) {
    table =
        fmt::format("precision {}: fake quantization gives {:.1f} dB with 8 bits between operators",
                    nameOf(choice->precision), choice->standard);
    if (choice->withExactOperands)
      table += fmt::format(", {:.1f} dB with 16 for what some products read ({} tensors)",
                           *choice->withExactOperands, choice->exactOperands);
    if (choice->mixed)
      table += fmt::format(", {:.1f} dB with 16 of which products take 8", *choice->mixed);
    if (choice->extended)
      table += fmt::format(", {:.1f} dB with 16", *choice->extended);
    table += "\n";
    if (const auto &cost = result.precisionCost)
      table +=
          fmt::format("  estimated to take {} cycles; with --precision standard --no-fusion it "
                      "would be {}, and with layer fusion fewer\n",
                      cost->chosenCycles, cost->standardCycles);
  }
  for (const LayerSqnr &layer : withLayers ? quantization.layers : std::vector<LayerSqnr>())
    table += fmt::format("{:>6.1f} dB  {} ({})\n", layer.decibels, escape(layer.layer),
                         escape(layer.op));
  return table;
}

static void run(const Request &request, const CLI::App &command) {
  PhaseTimes times;
  times.ended("loading"); // of the tool and its libraries
  keepMemory();
  CompileOptions options = optionsOf(request, command);
  Outputs outputs;
  declare(outputs, request, options);
  if (!request.phases.empty())
    options.phaseEnded = [&](const std::string &name, const std::string &text) {
      const std::string file = request.phases + "/" + name;
      outputs.file("--dump-phases", file);
      outputs.write(file, text);
    };
  TuneProgressLine progress;
  options.tune.progress = [&](const TuneProgress &at) { progress.show(at); };
  if (!request.explainSelection.empty())
    options.explainSelection = [&](const std::string &text) { outputs.print(text); };
  if (request.timing)
    options.times = &times;
  StatusLine status;
  options.quantization.progress = [&](const std::string &text) { status.show(text); };
  CompileResult result = compile(options);
  progress.clear();
  status.clear();
  for (const std::string &warning : result.warnings)
    printError(fmt::format("{}: warning: {}\n", escape(options.model, 4096), warning));
  outputs.write(request.output, result.output);
  if (!request.quantizationJson.empty())
    outputs.write(request.quantizationJson, jsonOf(result));
  times.ended("write");
  if (!outputs.takesStandardOutput())
    outputs.print((request.plan ? result.plan : "") +
                  (result.tuning ? tableOf(*result.tuning) : "") + result.summary +
                  tableOf(result, request.compile.quantization.layerReport) +
                  (request.timing ? tableOf(times) : "") + result.overlayUse);
  outputs.commit();
}

void addCompileCommand(CLI::App &app) {
  auto request = std::make_shared<Request>();
  CompileOptions &options = request->compile;
  CLI::App *command =
      app.add_subcommand("compile", "Compile a model into a program for an accelerator");
  auto list = [&](const char *flag, std::vector<std::string> &into, const char *help) {
    return command->add_option(flag, into, help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  const std::vector<std::string> stages = stageNames();
  command->add_option("MODEL", options.model, "Model: " + modelFormatList())->required();
  command->add_option("-o,--output", request->output,
                      "File to write; needed for a program, else standard output is the default");
  command->add_option("--target", options.target, "Name or file of the target description")
      ->capture_default_str();
  list("--what-if", options.overlays, "Overlay file on the description; may be repeated");
  list("--shape", request->shapes, "NAME=1x3x48x192: shape of an input; may be repeated");
  command->add_flag("--accelerator-only", options.acceleratorOnly,
                    "Refuse a model of which the host would have to compute a part");
  list("--constant", request->constants,
       "NAME=FILE.npy: an input that always has this value; may be repeated");
  list("--image", request->images,
       "NAME=MEAN,.../DEVIATION,...: an input that the program takes as a picture, uint8 of [N, "
       "height, width, channels]; the model is given (pixel - mean) / deviation, of one of each or "
       "one for each channel; may be repeated");
  command
      ->add_option("--seed", options.seed,
                   "Seed of random calibration data, and of the tuner's search")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();

  command
      ->add_option("--quantize", options.quantize,
                   "Integers to compute with; none: those that the model has, and a float model "
                   "runs on the host")
      ->check(CLI::IsMember({"int8", "none"}))
      ->capture_default_str()
      ->group("Quantization");
  command
      ->add_option("--calibration", options.calibration,
                   "Samples of the inputs: .npz, or a directory of .npy")
      ->group("Quantization");
  command
      ->add_option("--calibration-method", request->calibrationMethod,
                   "How ranges come from samples")
      ->check(CLI::IsMember(calibrationMethods))
      ->capture_default_str()
      ->group("Quantization");
  command
      ->add_option("--percentile", options.quantization.percentile,
                   "What of the samples the range holds, for method percentile")
      ->check(CLI::Range(50.0, 100.0))
      ->check([](const std::string &text) { // which lets "nan" pass
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && std::isfinite(value)
                   ? std::string()
                   : fmt::format("'{}' is no number", escape(text));
      })
      ->capture_default_str()
      ->group("Quantization");
  command
      ->add_option("--precision", request->precision,
                   "8 bits between operators (standard), 16 of which products take 8 (mixed), 16 "
                   "(extended: more accurate and slower), or what "
                   "the outputs on the calibration samples ask for")
      ->check(CLI::IsMember(precisions))
      ->capture_default_str()
      ->group("Quantization");
  command
      ->add_option("--max-loss", request->maxLoss,
                   "The fewest cycles that lose at most so many dB against the most exact "
                   "precision, on calibration samples held back: 1 or 1dB")
      ->type_name("DECIBELS")
      ->group("Quantization");
  command
      ->add_option("--max-cycles", options.quantization.maxCycles,
                   "The most exact outputs, on calibration samples held back, within so many "
                   "cycles of the cycle engine")
      ->check(wholeNumber(1, INT64_MAX))
      ->group("Quantization");
  command
      ->add_flag("!--no-equalization", options.quantization.equalizes,
                 "Leave the channels of what convolutions read as they are")
      ->group("Quantization");
  command
      ->add_flag("!--no-bias-correction", options.quantization.correctsBiases,
                 "Leave biases as they are, whatever rounded weights do to the mean")
      ->group("Quantization");
  command
      ->add_option("--weight-rounding", request->weightRounding,
                   "Weights of an output together, learned from the calibration samples, or each "
                   "to the nearest integer")
      ->check(CLI::IsMember({"together", "nearest"}))
      ->capture_default_str()
      ->group("Quantization");
  command
      ->add_option("--quantization-json", request->quantizationJson,
                   "Write what --quantization-report prints as JSON (`-`: standard output)")
      ->group("Quantization");
  command
      ->add_flag("--quantization-report", options.quantization.layerReport,
                 "Print each layer's signal-to-quantization-noise ratio on the calibration samples")
      ->group("Quantization");

  command
      ->add_option("--buffering", request->buffering,
                   "How far loads run ahead of the steps that need them")
      ->check(CLI::IsMember(bufferings))
      ->capture_default_str()
      ->group("Schedule");
  command
      ->add_flag(
          "!--no-fusion", options.fusion,
          "Run every layer by itself, its tensors in DRAM (as --buffering single and none do)")
      ->group("Schedule");
  command
      ->add_flag("--plan", request->plan,
                 "Print the tiles, the buffering and the estimate of every layer")
      ->group("Schedule");
  command
      ->add_flag("--explain-selection{summary}", request->explainSelection,
                 "Print which layers each instruction computes, and what the others lack; "
                 "--explain-selection=all: layer by layer, every comparison")
      ->check(CLI::IsMember({"summary", "all"}))
      ->group("Schedule");

  command
      ->add_option("--tune", options.tune.trials,
                   "Measure so many plans of each kernel on the cycle engine, and take the best")
      ->check(wholeNumber(1, 1'000'000))
      ->type_name("TRIALS")
      ->group("Tuning");
  command
      ->add_option("--tune-search", request->search,
                   "model: plans that a model of what was measured ranks first; random: any, to "
                   "compare with")
      ->check(CLI::IsMember(searches))
      ->capture_default_str()
      ->group("Tuning");
  command
      ->add_option("--tune-database", options.tune.database,
                   "File of what was measured, made if need be; the default is in the cache folder")
      ->group("Tuning");

  command->add_option("--emit", request->emit, "Stage to write")
      ->check(CLI::IsMember(stages))
      ->capture_default_str()
      ->group("Stages");
  command->add_option("--compile-to", request->to, "The same: stage to stop after")
      ->check(CLI::IsMember(stages))
      ->group("Stages");
  command
      ->add_option("--compile-from", request->from,
                   "Stage that MODEL is at, as --emit wrote it; a model is at import")
      ->check(CLI::IsMember({"import", "tosa", "kernel", "npu", "elf"}))
      ->group("Stages");
  command
      ->add_option("--dump-phases", request->phases,
                   "Directory for the module after every phase; made if need be")
      ->group("Stages");
  command
      ->add_flag("--timing", request->timing,
                 "Print what each phase takes: seconds by the clock and of all processors, and the "
                 "peak of memory until its end")
      ->group("Stages");
  command->callback([request, command] { run(*request, *command); });
}

} // namespace tilewright
