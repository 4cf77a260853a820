#include "resolver.h"

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
      {"pipeline", &limits::pipeline},       {"start", &limits::latency},
      {"latency", &limits::latency}};
  return *limits.at(key);
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

Timing resolveTiming(const yaml::Node &file, const Params &params,
                     const std::vector<Instruction> &instructions) {
  Timing timing;
  for (size_t i = 0; i < file.keys.size(); ++i) {
    if (file.keys[i].text == "schema")
      continue;
    if (file.keys[i].text == "instructions")
      for (const yaml::Node &key : file.items[i].keys) {
        std::vector<std::string> names;
        for (const Instruction &instruction : instructions)
          names.push_back(instruction.name);
        if (std::find(names.begin(), names.end(), key.text) == names.end()) {
          std::string near = nearest(key.text, names);
          throw UserError(key.location(),
                          fmt::format("there is no instruction '{}'", escape(key.text)),
                          near.empty() ? "" : fmt::format("did you mean '{}'?", near));
        }
      }
    flatten(file.items[i], file.keys[i].text, params, timing);
  }
  checkFetch(*file.find("sequencer"), params, timing);
  return timing;
}

} // namespace tilewright::isa
