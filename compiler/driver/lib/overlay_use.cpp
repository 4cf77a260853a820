#include "overlay_use.h"

#include "tilewright/isa/yaml.h"
#include "tilewright/support/error.h"
#include "tilewright/support/listed.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

std::vector<std::string> instructionsOf(const std::vector<std::string> &overlays,
                                        const isa::Isa &isa) {
  std::vector<std::string> names;
  for (const std::string &overlay : overlays) {
    const yaml::Node root = yaml::read(overlay);
    const yaml::Node *instructions = root.find("instructions");
    if (!instructions)
      continue;
    for (const yaml::Node &key : instructions->keys)
      if (isa.find(key.text) && std::find(names.begin(), names.end(), key.text) == names.end())
        names.push_back(key.text);
  }
  return names;
}

std::string useOf(const std::string &instruction, const Program &program, const isa::Isa &isa,
                  const SelectionReport &selection) {
  const int wanted = isa.find(instruction)->index;
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  size_t count = 0, run = 0;
  std::vector<int> layers; // each once, in the program's order
  isa::DecodedInstruction decoded;
  std::string reason;
  for (size_t pc = 0; pc < program.code.size() / size; ++pc) {
    while (run < program.runs.size() && program.runs[run].firstInstruction <= pc)
      ++run;
    if (!isa.decode(code + pc * size, decoded, reason) || decoded.instruction != wanted)
      continue;
    ++count;
    const int layer = run > 0 ? program.runs[run - 1].layer : -1;
    if (layer >= 0 && std::find(layers.begin(), layers.end(), layer) == layers.end())
      layers.push_back(layer);
  }
  if (count == 0)
    return fmt::format("{}: taken nowhere; {}\n", instruction, selection.whyNot(instruction));
  std::string text = fmt::format("{}: taken {} time{}", instruction, count, count == 1 ? "" : "s");
  if (!layers.empty())
    text += fmt::format(", in {} layer{}: ", layers.size(), layers.size() == 1 ? "" : "s");
  std::vector<std::string> titles;
  for (int each : layers) {
    const LayerInfo &layer = program.layers[static_cast<size_t>(each)];
    titles.push_back(fmt::format("{} ({})", escape(layer.name), escape(layer.op)));
  }
  return text + listed(titles) + "\n";
}

} // namespace tilewright
