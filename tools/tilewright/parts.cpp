#include "parts.h"

#include "tensor_files.h"
#include "terminal.h"
#include "tilewright/explore/run_costs.h"
#include "tilewright/host/elements.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"
#include "tilewright/support/npy_bytes.h"
#include "tilewright/support/outputs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

namespace tilewright {

LoadedParts loadParts(const std::string &path, const std::string &bytes) {
  PartedProgram file = readParted(path, bytes);
  LoadedParts loaded{path, std::move(file.inputs), std::move(file.outputs), {}};
  for (size_t i = 0; i < file.parts.size(); ++i) {
    Part &part = file.parts[i];
    LoadedPart each;
    each.operators = std::move(part.operators);
    const std::string member = fmt::format("{}: part {}", path, i);
    if (part.onHost)
      each.model = onnx::readModel(member, std::move(part.bytes));
    else
      each.program = loadProgram(path, part.bytes);
    loaded.parts.push_back(std::move(each));
  }
  return loaded;
}

namespace {

// A file's tensor as the model takes it: of its type, or one that it can be made of without loss.
Tensor converted(Tensor tensor, const BorderTensor &input, const SourceLocation &location) {
  tensor = storedAs(std::move(tensor), input.dtype);
  if (tensor.dtype == input.dtype)
    return tensor;
  const bool areFloats = host::isFloat(tensor.dtype) && host::isFloat(input.dtype);
  if (areFloats)
    return host::castTensor(tensor, input.dtype);
  throw UserError(location,
                  fmt::format("is {}, the model takes {}", name(tensor.dtype), name(input.dtype)),
                  "convert it");
}

Tensor randomTensor(const BorderTensor &input, uint64_t seed) {
  std::vector<int64_t> shape = input.shape;
  std::replace(shape.begin(), shape.end(), onnx::dynamicDimension, int64_t(1));
  Tensor tensor = makeTensor(input.dtype, std::move(shape));
  std::mt19937_64 random = randomOf(input.name, seed);
  std::normal_distribution<double> normal;
  const int64_t drawn = std::min<int64_t>(tensor.elements(), 1 << 20); // what follows repeats these
  for (int64_t i = 0; i < drawn; ++i)
    if (host::isFloat(input.dtype))
      host::setFloat(tensor, i, normal(random));
    else
      host::setInteger(tensor, i, static_cast<int64_t>(random() & 1));
  const size_t period = drawn * tensor.bytes.size() / std::max<int64_t>(tensor.elements(), 1);
  for (size_t at = period; at < tensor.bytes.size(); at += period)
    std::memcpy(&tensor.bytes[at], tensor.bytes.data(), std::min(period, tensor.bytes.size() - at));
  return tensor;
}

uint64_t bytesOf(const std::vector<std::string> &names, const Values &values) {
  uint64_t bytes = 0;
  for (const std::string &name : names)
    if (auto value = values.find(name); value != values.end() && value->second)
      bytes += value->second->bytes.size();
  return bytes;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool fits(const std::vector<int64_t> &shape, const std::vector<int64_t> &wanted) {
  return std::equal(
      shape.begin(), shape.end(), wanted.begin(), wanted.end(),
      [](int64_t size, int64_t known) { return known == onnx::dynamicDimension || size == known; });
}

// Piece `index` of those that `tensor` holds one behind the other.
host::ConstantTensor piece(const Tensor &tensor, std::vector<int64_t> shape, size_t index) {
  auto one = std::make_shared<Tensor>(makeTensor(tensor.dtype, std::move(shape)));
  std::copy_n(tensor.bytes.begin() + static_cast<int64_t>(index * one->bytes.size()),
              one->bytes.size(), one->bytes.begin());
  return one;
}

// Where the samples of a tensor stand; none, where it is one.
BoundSamples::Axis axisOf(const Tensor &tensor, const BorderTensor &input,
                          const SourceLocation &location) {
  using Axis = BoundSamples::Axis;
  if (fits(tensor.shape, input.shape))
    return Axis::None;
  const std::vector<int64_t> &shape = tensor.shape;
  if (!shape.empty() && shape[0] > 0) {
    if (fits({shape.begin() + 1, shape.end()}, input.shape))
      return Axis::New;
    std::vector<int64_t> one = shape;
    one[0] = 1;
    if (fits(one, input.shape))
      return Axis::First;
  }
  throw UserError(location,
                  fmt::format("has the shape {}, the model takes {}", formatShape(tensor.shape),
                              formatShape(input.shape)),
                  "give that, or several such along a first axis");
}

} // namespace

BoundSamples bindInputs(const LoadedParts &program, const std::vector<std::string> &texts,
                        uint64_t seed) {
  using Axis = BoundSamples::Axis;
  BoundSamples bound;
  bool isFirst = true;
  for (const auto &[name, file] : inputFiles(namesOf(program.inputs), texts)) {
    auto found = std::find_if(program.inputs.begin(), program.inputs.end(),
                              [&, &name = name](auto &input) { return input.name == name; });
    if (found == program.inputs.end()) {
      const std::string near = nearest(name, namesOf(program.inputs));
      throw UserError({file, 0, 0, ""}, fmt::format("the program has no input '{}'", escape(name)),
                      near.empty() ? "" : fmt::format("did you mean '{}'?", escape(near)));
    }
    SourceLocation location{file, 0, 0, fmt::format("input '{}'", escape(name))};
    const Tensor tensor = converted(readNpy(file), *found, location);
    const Axis axis = axisOf(tensor, *found, location);
    const size_t count = axis == Axis::None ? 1 : static_cast<size_t>(tensor.shape[0]);
    if (!isFirst && count != bound.samples.size())
      throw UserError(
          location,
          fmt::format("is a batch of {}, another input one of {}", count, bound.samples.size()),
          "give all inputs for the same number of runs");
    isFirst = false;
    bound.samples.resize(count);
    std::vector<int64_t> shape = tensor.shape;
    if (axis == Axis::New)
      shape.erase(shape.begin());
    else if (axis == Axis::First)
      shape[0] = 1;
    for (size_t i = 0; i < count; ++i)
      bound.samples[i][name] = piece(tensor, shape, i);
    if (axis != Axis::None)
      bound.axis = axis;
  }
  for (const BorderTensor &input : program.inputs)
    if (!bound.samples[0].count(input.name)) {
      const auto random = std::make_shared<const Tensor>(randomTensor(input, seed));
      for (Values &values : bound.samples)
        values[input.name] = random;
      bound.random.push_back(input.name);
    }
  return bound;
}

std::vector<PartRun> runParts(const LoadedParts &program, Values &values, const RunProgram &run) {
  std::vector<PartRun> runs;
  for (size_t i = 0; i < program.parts.size(); ++i) {
    const LoadedPart &part = program.parts[i];
    const auto start = std::chrono::steady_clock::now();
    PartRun each;
    auto valueOf = [&](const std::string &name) {
      auto value = values.find(name);
      if (value == values.end() || !value->second)
        throw UserError({program.path, 0, 0, fmt::format("part {}", i)},
                        fmt::format("reads '{}', which no part before it gives", escape(name)),
                        "the file is damaged; compile the model again");
      return value->second;
    };
    if (part.program) {
      Session session(part.program->program);
      for (const TensorInfo &input : part.program->program.inputs)
        session.setInput(input.name, *valueOf(input.name));
      each.bytesIn = bytesOf(namesOf(part.program->program.inputs), values);
      for (auto &[name, tensor] : run(i, *part.program, session))
        values[name] = std::make_shared<const Tensor>(std::move(tensor));
      each.bytesOut = bytesOf(namesOf(part.program->program.outputs), values);
    } else {
      Values inputs;
      for (const onnx::GraphValue &input : part.model.inputs)
        inputs[input.name] = valueOf(input.name);
      each.bytesIn = bytesOf(namesOf(part.model.inputs), values);
      std::vector<host::ConstantTensor> outputs = host::run(part.model, program.path, inputs);
      for (size_t o = 0; o < outputs.size(); ++o)
        values[part.model.outputs[o].name] = std::move(outputs[o]);
      each.bytesOut = bytesOf(namesOf(part.model.outputs), values);
    }
    each.seconds = secondsSince(start);
    runs.push_back(each);
  }
  return runs;
}

namespace {

std::string hostText(size_t index, const LoadedPart &part, const PartRun &run, bool noHost) {
  std::map<std::string, int> counts;
  for (const HostOperator &each : part.operators)
    ++counts[each.op];
  std::vector<std::string> names;
  for (const auto &[op, count] : counts)
    names.push_back(count == 1 ? escape(op) : fmt::format("{} {}", count, escape(op)));
  return fmt::format("part {}, host: {} operator{} ({}), {} bytes in, {} bytes out{}\n", index,
                     part.operators.size(), part.operators.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), run.bytesIn, run.bytesOut,
                     noHost ? "" : fmt::format(", {:.3f} s", run.seconds));
}

nlohmann::ordered_json hostJson(const LoadedPart &part, const PartRun &run, bool noHost) {
  nlohmann::ordered_json json;
  json["on"] = "host";
  json["operators"] = nlohmann::ordered_json::array();
  for (const HostOperator &each : part.operators)
    json["operators"].push_back(
        {{"name", escape(each.name)}, {"op", escape(each.op)}, {"reason", each.reason}});
  json["bytes_in"] = run.bytesIn;
  json["bytes_out"] = run.bytesOut;
  if (!noHost)
    json["wall_seconds"] = run.seconds;
  return json;
}

// Of the accelerator alone; 0 where time is not modeled.
double samplesPerSecond(size_t samples, int64_t cycles, int64_t clockHz) {
  return cycles > 0 ? static_cast<double>(samples) * static_cast<double>(clockHz) /
                          static_cast<double>(cycles)
                    : 0;
}

// The files of --output-dir. An output whose shape depends on data cannot be stacked: of a batch
// each sample's has a file of its own.
class OutputFiles {
public:
  OutputFiles(const LoadedParts &program, const BoundSamples &bound, std::string directory)
      : program_(program), bound_(bound), directory_(std::move(directory)),
        names_(fileNames(namesOf(program.outputs))) {}

  void declare(Outputs &outputs) const {
    outputs.directory("--output-dir", directory_);
    if (!directory_.empty())
      for (size_t i = 0; i < names_.size(); ++i)
        for (const std::string &file : filesOf(i))
          outputs.file("--output-dir", file);
  }

  void write(Outputs &outputs) const {
    if (directory_.empty())
      return;
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::vector<std::string> files = filesOf(i);
      if (files.size() == 1)
        outputs.write(files[0], npyBytes(stacked(i)));
      else
        for (size_t sample = 0; sample < files.size(); ++sample)
          outputs.write(files[sample], npyBytes(*valueOf(i, sample)));
    }
  }

private:
  bool isStacked(size_t output) const {
    const std::vector<int64_t> &shape = program_.outputs[output].shape;
    return std::find(shape.begin(), shape.end(), onnx::dynamicDimension) == shape.end();
  }

  std::vector<std::string> filesOf(size_t output) const {
    if (bound_.samples.size() == 1 || isStacked(output))
      return {fmt::format("{}/{}.npy", directory_, names_[output])};
    std::vector<std::string> files;
    for (size_t sample = 0; sample < bound_.samples.size(); ++sample)
      files.push_back(fmt::format("{}/{}-{}.npy", directory_, names_[output], sample));
    return files;
  }

  const host::ConstantTensor &valueOf(size_t output, size_t sample) const {
    const auto value = bound_.samples[sample].find(program_.outputs[output].name);
    if (value == bound_.samples[sample].end() || !value->second)
      throw UserError(
          {program_.path, 0, 0, ""},
          fmt::format("output '{}' has no value", escape(program_.outputs[output].name)));
    return value->second;
  }

  Tensor stacked(size_t output) const {
    Tensor all = *valueOf(output, 0);
    if (bound_.axis == BoundSamples::Axis::None)
      return all;
    for (size_t sample = 1; sample < bound_.samples.size(); ++sample) {
      const Tensor &next = *valueOf(output, sample);
      if (next.shape != valueOf(output, 0)->shape) // which the model does not say
        throw UserError({program_.path, 0, 0, ""},
                        fmt::format("output '{}' has the shape {} for the first sample, and {} for "
                                    "another",
                                    escape(program_.outputs[output].name),
                                    formatShape(valueOf(output, 0)->shape),
                                    formatShape(next.shape)),
                        "run the samples one by one, or declare the dimension as unknown");
      all.bytes.insert(all.bytes.end(), next.bytes.begin(), next.bytes.end());
    }
    const auto count = static_cast<int64_t>(bound_.samples.size());
    if (bound_.axis == BoundSamples::Axis::First && !all.shape.empty() && all.shape[0] == 1)
      all.shape[0] = count;
    else
      all.shape.insert(all.shape.begin(), count);
    return all;
  }

  const LoadedParts &program_;
  const BoundSamples &bound_;
  std::string directory_;
  std::vector<std::string> names_;
};

// The parts' engines, and what they ran.
class Accelerator {
public:
  Accelerator(const LoadedParts &program, const RunOptionsOfParts &options)
      : program_(program), options_(options) {}

  std::map<std::string, Tensor> run(size_t index, const LoadedProgram &part,
                                    const Session &session) {
    std::unique_ptr<Engine> &engine = engines_[index];
    if (!engine)
      engine = makeEngine(options_.engine, part.isa);
    RunOptions limits;
    limits.maxCycles = options_.maxCycles;
    Session::Result result = session.run(*engine, limits, false);
    if (result.records.back().stopped)
      throw UserError({program_.path, 0, 0, fmt::format("part {}", index)},
                      fmt::format("did not end within {} cycles", options_.maxCycles),
                      "raise --max-cycles");
    batchCycles_ += result.cycles();
    if (!reports_.count(index))
      reports_.emplace(index, reportOf(part, result.records.front()));
    return result.outputs;
  }

  // Of the first sample; null: of a part on the host.
  const report::Report *reportOf(size_t index) const {
    auto found = reports_.find(index);
    return found == reports_.end() ? nullptr : &found->second;
  }
  int64_t batchCycles() const { return batchCycles_; }

private:
  report::Report reportOf(const LoadedProgram &part, const RunRecord &record) const {
    report::Options about;
    about.program = program_.path;
    about.engine = options_.engine;
    report::Report report = report::build(part.program, record, part.isa, about);
    report.costs = explore::costsOf(part.program, record, part.isa);
    return report;
  }

  const LoadedParts &program_;
  const RunOptionsOfParts &options_;
  std::map<size_t, std::unique_ptr<Engine>> engines_;
  std::map<size_t, report::Report> reports_;
  int64_t batchCycles_ = 0;
};

} // namespace

void runInParts(const LoadedParts &program, const RunOptionsOfParts &options) {
  Outputs outputs;
  BoundSamples bound = bindInputs(program, options.inputs, options.seed);
  outputs.reads("PROGRAM", program.path);
  const OutputFiles files(program, bound, options.outputDirectory);
  files.declare(outputs);
  outputs.file("--json", options.json);

  Accelerator accelerator(program, options);
  std::vector<PartRun> runs; // bytes of the first sample, seconds of all
  for (Values &values : bound.samples) {
    const std::vector<PartRun> own = runParts(
        program, values, [&](size_t index, const LoadedProgram &part, const Session &session) {
          return accelerator.run(index, part, session);
        });
    if (runs.empty())
      runs = own;
    else
      for (size_t i = 0; i < runs.size(); ++i)
        runs[i].seconds += own[i].seconds;
  }
  files.write(outputs);
  nlohmann::ordered_json json;
  json["schema"] = "tilewright/parts/1";
  json["program"] = escape(program.path, 4096);
  if (!bound.random.empty()) {
    json["seed"] = options.seed;
    json["random_inputs"] = bound.random;
  }
  std::string text;
  int64_t cycles = 0, clockHz = 0;
  double hostSeconds = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const report::Report *report = accelerator.reportOf(i);
    if (!report) {
      text += hostText(i, program.parts[i], runs[i], options.noHost);
      json["parts"].push_back(hostJson(program.parts[i], runs[i], options.noHost));
      hostSeconds += runs[i].seconds;
      continue;
    }
    cycles += report->cycles;
    clockHz = report->clockHz;
    text += fmt::format("part {}, accelerator: {} bytes in, {} bytes out\n{}", i, runs[i].bytesIn,
                        runs[i].bytesOut, report::toText(*report, terminalWidth()));
    json["parts"].push_back({{"on", "accelerator"},
                             {"bytes_in", runs[i].bytesIn},
                             {"bytes_out", runs[i].bytesOut},
                             {"report", nlohmann::ordered_json::parse(report::toJson(*report))}});
  }
  json["cycles"] = cycles;
  json["runs"] = bound.samples.size();
  json["batch_cycles"] = accelerator.batchCycles();
  const double rate = samplesPerSecond(bound.samples.size(), accelerator.batchCycles(), clockHz);
  json["samples_per_second"] = rate;
  text += fmt::format("{} part{}: {} cycles on the accelerator{}\n", runs.size(),
                      runs.size() == 1 ? "" : "s", cycles,
                      options.noHost ? "" : fmt::format(", {:.3f} s on the host", hostSeconds));
  if (bound.samples.size() > 1)
    text += fmt::format("{} samples{}\n", bound.samples.size(),
                        rate == 0 ? ""
                                  : fmt::format(" in {} cycles on the accelerator: {:.1f} a second "
                                                "there; the other cycles are those of the first",
                                                accelerator.batchCycles(), rate));
  if (!options.json.empty())
    outputs.write(options.json,
                  json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                      "\n");
  if (!outputs.takesStandardOutput())
    outputs.print(text);
  outputs.commit();
}

} // namespace tilewright
