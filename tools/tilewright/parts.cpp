#include "parts.h"

#include "tensor_files.h"
#include "terminal.h"
#include "tilewright/explore/run_costs.h"
#include "tilewright/host/elements.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"
#include "tilewright/support/npy_bytes.h"
#include "tilewright/support/outputs.h"

#include <chrono>
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
  std::mt19937_64 random(seed ^ std::hash<std::string>()(input.name));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (host::isFloat(input.dtype))
      host::setFloat(tensor, i, normal(random));
    else
      host::setInteger(tensor, i, static_cast<int64_t>(random() & 1));
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

} // namespace

Values bindInputs(const LoadedParts &program, const std::vector<std::string> &texts, uint64_t seed,
                  std::vector<std::string> &random) {
  Values values;
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
    if (!std::equal(tensor.shape.begin(), tensor.shape.end(), found->shape.begin(),
                    found->shape.end(), [](int64_t size, int64_t wanted) {
                      return wanted == onnx::dynamicDimension || size == wanted;
                    }))
      throw UserError(location,
                      fmt::format("has the shape {}, the model takes {}", formatShape(tensor.shape),
                                  formatShape(found->shape)),
                      "give one sample: a program in parts takes no batches");
    values[name] = std::make_shared<const Tensor>(tensor);
  }
  for (const BorderTensor &input : program.inputs)
    if (!values.count(input.name)) {
      values[input.name] = std::make_shared<const Tensor>(randomTensor(input, seed));
      random.push_back(input.name);
    }
  return values;
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

} // namespace

void runInParts(const LoadedParts &program, const RunOptionsOfParts &options) {
  Outputs outputs;
  std::vector<std::string> random;
  Values values = bindInputs(program, options.inputs, options.seed, random);
  outputs.reads("PROGRAM", program.path);
  outputs.directory("--output-dir", options.outputDirectory);
  const std::vector<std::string> files = fileNames(namesOf(program.outputs));
  if (!options.outputDirectory.empty())
    for (const std::string &file : files)
      outputs.file("--output-dir", fmt::format("{}/{}.npy", options.outputDirectory, file));
  outputs.file("--json", options.json);

  std::map<size_t, report::Report> reports;
  auto accelerate = [&](size_t index, const LoadedProgram &part, const Session &session) {
    std::unique_ptr<Engine> engine = makeEngine(options.engine, part.isa);
    RunOptions limits;
    limits.maxCycles = options.maxCycles;
    Session::Result result = session.run(*engine, limits, false);
    if (result.records.back().stopped)
      throw UserError({program.path, 0, 0, fmt::format("part {}", index)},
                      fmt::format("did not end within {} cycles", options.maxCycles),
                      "raise --max-cycles");
    report::Options about;
    about.program = program.path;
    about.engine = options.engine;
    report::Report report = report::build(part.program, result.records.front(), part.isa, about);
    report.costs = explore::costsOf(part.program, result.records.front(), part.isa);
    reports.emplace(index, std::move(report));
    return result.outputs;
  };
  const std::vector<PartRun> runs = runParts(program, values, accelerate);

  if (!options.outputDirectory.empty())
    for (size_t i = 0; i < files.size(); ++i) {
      const host::ConstantTensor &value = values[program.outputs[i].name];
      if (!value)
        throw UserError({program.path, 0, 0, ""},
                        fmt::format("output '{}' has no value", escape(program.outputs[i].name)));
      outputs.write(fmt::format("{}/{}.npy", options.outputDirectory, files[i]), npyBytes(*value));
    }
  nlohmann::ordered_json json;
  json["schema"] = "tilewright/parts/1";
  json["program"] = escape(program.path, 4096);
  if (!random.empty()) {
    json["seed"] = options.seed;
    json["random_inputs"] = random;
  }
  std::string text;
  int64_t cycles = 0;
  double hostSeconds = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    auto report = reports.find(i);
    if (report == reports.end()) {
      text += hostText(i, program.parts[i], runs[i], options.noHost);
      json["parts"].push_back(hostJson(program.parts[i], runs[i], options.noHost));
      hostSeconds += runs[i].seconds;
      continue;
    }
    cycles += report->second.cycles;
    text += fmt::format("part {}, accelerator: {} bytes in, {} bytes out\n{}", i, runs[i].bytesIn,
                        runs[i].bytesOut, report::toText(report->second, terminalWidth()));
    json["parts"].push_back(
        {{"on", "accelerator"},
         {"bytes_in", runs[i].bytesIn},
         {"bytes_out", runs[i].bytesOut},
         {"report", nlohmann::ordered_json::parse(report::toJson(report->second))}});
  }
  json["cycles"] = cycles;
  text += fmt::format("{} part{}: {} cycles on the accelerator{}\n", runs.size(),
                      runs.size() == 1 ? "" : "s", cycles,
                      options.noHost ? "" : fmt::format(", {:.3f} s on the host", hostSeconds));
  if (!options.json.empty())
    outputs.write(options.json,
                  json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                      "\n");
  if (!outputs.takesStandardOutput())
    outputs.print(text);
  outputs.commit();
}

} // namespace tilewright
