#include "resolver.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

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
    if (value < 0)
      throw UserError(item.place(),
                      fmt::format("the time '{}' is {}: times are not negative", key, value));
    if (!timing.emplace(key, value).second)
      throw UserError(node.keys[i].place(), fmt::format("the time '{}' stands twice", key));
  }
}

Timing resolveTiming(const yaml::Node &file, const Params &params,
                     const std::vector<Instruction> &instructions) {
  Timing timing;
  for (size_t i = 0; i < file.keys.size(); ++i) {
    if (file.keys[i].text == "schema")
      continue;
    if (file.items[i].kind != yaml::Node::Kind::Map)
      throw UserError(file.items[i].place(),
                      fmt::format("'{}' is not a map of times", escape(file.keys[i].text)));
    if (file.keys[i].text == "instructions")
      for (const yaml::Node &key : file.items[i].keys) {
        std::vector<std::string> names;
        for (const Instruction &instruction : instructions)
          names.push_back(instruction.name);
        if (std::find(names.begin(), names.end(), key.text) == names.end()) {
          std::string near = nearest(key.text, names);
          throw UserError(key.place(),
                          fmt::format("there is no instruction '{}'", escape(key.text)),
                          near.empty() ? "" : fmt::format("did you mean '{}'?", near));
        }
      }
    flatten(file.items[i], file.keys[i].text, params, timing);
  }
  return timing;
}

} // namespace tilewright::isa
