#include "resolver.h"
#include "tilewright/isa/pipeline.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

// By the last part of the key.
const Limit &limitOf(const std::string &key) {
  static const std::map<std::string_view, const Limit *> limits = {
      {"fetch_bytes", &limits::burstBytes},  {"buffer", &limits::fetchBuffer},
      {"ahead", &limits::fetchAhead},        {"buffers", &limits::buffers},
      {"outstanding", &limits::outstanding}, {"inflight", &limits::inFlight},
      {"pipeline", &limits::pipeline},       {"start", &limits::vectorStart}};
  return *limits.at(key);
}

std::string inFo4(int64_t thousandths) {
  return fmt::format("{:.1f}", static_cast<double>(thousandths) / 1000);
}

// The prefetch's window must fit into the fetch buffer, in whole lines.
void checkFetch(const yaml::Node &sequencer, const Params &params, const Timing &timing) {
  int64_t instructionBytes = lookupIn(params)("instruction_bytes", sequencer.location()),
          burstBytes = lookupIn(params)("burst_bytes", sequencer.location());
  int64_t line = timing.at("sequencer.fetch_bytes"), buffer = timing.at("sequencer.buffer"),
          ahead = timing.at("sequencer.ahead");
  const yaml::Node &lineNode = *sequencer.find("fetch_bytes");
  if ((line & (line - 1)) != 0 || line % instructionBytes != 0 || line > burstBytes)
    throw UserError(lineNode.location(),
                    fmt::format("a fetch line of {} bytes is not a power of two from {} (an "
                                "instruction) to {} (a burst)",
                                line, instructionBytes, burstBytes));
  int64_t perLine = line / instructionBytes, least = (ahead + perLine - 1) / perLine + 2;
  if (buffer % perLine != 0 || buffer / perLine < least)
    throw UserError(
        sequencer.find("buffer")->location(),
        fmt::format("a fetch buffer of {} instructions does not hold the {} lines of {} "
                    "that a prefetch of {} instructions needs",
                    buffer, least, perLine, ahead),
        fmt::format("make it a multiple of {}, at least {}", perLine, least * perLine));
}

} // namespace

static void flatten(const yaml::Node &node, const std::string &prefix, const Params &params,
                    Timing &timing) {
  for (size_t i = 0; i < node.keys.size(); ++i) {
    std::string key = prefix.empty() ? node.keys[i].text : prefix + "." + node.keys[i].text;
    const yaml::Node &item = node.items[i];
    if (item.kind == yaml::Node::Kind::Map) {
      flatten(item, key, params, timing);
      continue;
    }
    int64_t value = evaluateParams(item, lookupIn(params));
    requireWithin(limitOf(node.keys[i].text), value, item.location(), fmt::format("'{}'", key));
    timing.emplace(key, value);
  }
}

// An instruction that is named must be one, and have a pipeline.
static void checkNames(const yaml::Node &lines, const std::vector<Instruction> &instructions,
                       const std::vector<Unit> &units) {
  for (const yaml::Node &key : lines.keys) {
    std::vector<std::string> names;
    for (const Instruction &instruction : instructions)
      if (hasPipeline(instruction, units))
        names.push_back(instruction.name);
    if (std::find(names.begin(), names.end(), key.text) != names.end())
      continue;
    const bool isKnown =
        std::any_of(instructions.begin(), instructions.end(),
                    [&](const Instruction &instruction) { return instruction.name == key.text; });
    const std::string near = nearest(key.text, names);
    throw UserError(
        key.location(),
        isKnown ? fmt::format("'{}' has no latency: vector instructions alone have one", key.text)
                : fmt::format("there is no instruction '{}'", escape(key.text)),
        near.empty() || isKnown ? "" : fmt::format("did you mean '{}'?", near));
  }
}

Timing resolveTiming(const yaml::Node &file, const Params &params) {
  Timing timing;
  for (size_t i = 0; i < file.keys.size(); ++i)
    if (file.keys[i].text != "schema" && file.keys[i].text != "instructions")
      flatten(file.items[i], file.keys[i].text, params, timing);
  checkFetch(*file.find("sequencer"), params, timing);
  return timing;
}

void resolvePipelines(const Sources &sources, Isa &isa, Lane &lane,
                      std::vector<Instruction> &instructions) {
  const yaml::Node *lines = sources.timing.find("instructions");
  if (lines)
    checkNames(*lines, instructions, isa.units());
  const SourceLocation clock = sources.target.find("clock_hz")->location();
  const Technology &technology = isa.technology();
  const std::string cycle = fmt::format("a cycle of {} Hz is {} FO4 of '{}'", isa.clockHz(),
                                        inFo4(technology.period(isa.clockHz())), technology.name);
  if (technology.budget(isa.clockHz()) <= 0)
    throw UserError(
        clock,
        fmt::format("{}, and registers with their selection alone take {}", cycle,
                    inFo4(technology.period(isa.clockHz()) - technology.budget(isa.clockHz()))),
        "make the clock slower");
  lane = makeLane(isa, instructions);
  for (Instruction &instruction : instructions) {
    if (!hasPipeline(instruction, isa.units()))
      continue;
    Pipeline &pipeline = instruction.pipeline;
    pipeline = derivePipeline(instruction, isa, lane);
    if (pipeline.tooLong >= 0) {
      const PipelineOperation &operation =
          pipeline.operations[static_cast<size_t>(pipeline.tooLong)];
      throw UserError(clock,
                      fmt::format("{}, of which logic has {}; the {} of '{}' takes {} and cannot "
                                  "be cut into stages",
                                  cycle, inFo4(technology.budget(isa.clockHz())), operation.what,
                                  instruction.name, inFo4(operation.delay)),
                      "make the clock slower");
    }
    const yaml::Node *line = lines ? lines->find(instruction.name) : nullptr;
    const yaml::Node *asked = line ? line->find("latency") : nullptr;
    if (asked) {
      pipeline.latency = evaluateParams(*asked, lookupIn(isa.params()));
      requireWithin(limits::latency, pipeline.latency, asked->location(),
                    fmt::format("the latency of '{}'", instruction.name));
      if (pipeline.latency < pipeline.least)
        throw UserError(asked->location(),
                        fmt::format("'{}' is asked for in {} cycles and takes {}: {}, and {}",
                                    instruction.name, pipeline.latency, pipeline.least,
                                    criticalPath(pipeline), cycle),
                        fmt::format("ask for {} or more, or leave the line out", pipeline.least));
    }
    requireWithin(limits::latency, pipeline.latency, clock,
                  fmt::format("the latency of '{}'", instruction.name));
  }
}

} // namespace tilewright::isa
