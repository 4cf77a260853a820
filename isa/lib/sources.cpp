// Where the files are, which are read, and how overlays change them.
#include "resolver.h"
#include "tilewright/isa/documents.h"
#include "tilewright/isa/schema.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace tilewright::isa {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> namesIn(const fs::path &directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(directory, error))
    if (entry.path().extension() == ".yaml")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

constexpr const char *defaultTechnology = "logic16ps";

// A shipped file by name, with the nearest when there is none.
std::string shipped(const fs::path &directory, const std::string &name, const std::string &what,
                    const SourceLocation &location) {
  fs::path path = directory / (name + ".yaml");
  std::error_code error;
  if (isIdentifier(name, true) && fs::exists(path, error))
    return path.string();
  std::vector<std::string> names = namesIn(directory);
  std::string near = nearest(name, names);
  throw UserError(location, fmt::format("there is no {} '{}'", what, escape(name)),
                  near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                               : fmt::format("did you mean '{}'?", near));
}

std::string targetPath(const fs::path &directory, const std::string &target) {
  bool isPath = target.find('/') != std::string::npos || target.find(".yaml") != std::string::npos;
  return isPath ? target : shipped(directory / "targets", target, "target", {"", 0, 0, ""});
}

// An instruction goes with its line of timing: an overlay that removes one removes the other.
void forgetTiming(yaml::Node &timing, const std::string &name) {
  yaml::Node removal, instructions, patch;
  instructions.kind = patch.kind = yaml::Node::Kind::Map;
  yaml::Node key;
  key.kind = yaml::Node::Kind::Text;
  key.text = name;
  instructions.keys.push_back(key);
  instructions.items.push_back(removal);
  key.text = "instructions";
  patch.keys.push_back(key);
  patch.items.push_back(instructions);
  const yaml::Node *lines = timing.find("instructions");
  if (lines && lines->find(name))
    yaml::mergePatch(timing, patch);
}

void requireMap(const yaml::Node &node, const std::string &what) {
  if (node.kind != yaml::Node::Kind::Map)
    throw UserError(node.location(),
                    fmt::format("'{}' is {}, not a map", what, yaml::describe(node.kind)));
}

void patchInstructions(const yaml::Node &patches, Sources &sources) {
  for (size_t i = 0; i < patches.keys.size(); ++i) {
    const std::string &name = patches.keys[i].text;
    const yaml::Node &patch = patches.items[i];
    auto existing = sources.instructions.find(name);
    if (patch.kind == yaml::Node::Kind::Null) {
      if (existing == sources.instructions.end())
        throw UserError(patches.keys[i].location(),
                        fmt::format("there is no instruction '{}' to remove", escape(name)));
      sources.instructions.erase(existing);
      forgetTiming(sources.timing, name);
    } else {
      requireMap(patch, name);
      yaml::mergePatch(sources.instructions[name], patch);
    }
  }
}

void applyOverlay(const yaml::Node &overlay, Sources &sources) {
  for (const auto &[key, part] : {std::pair("machine", &sources.machine),
                                  {"timing", &sources.timing},
                                  {"dram", &sources.dram},
                                  {"technology", &sources.technology},
                                  {"target", &sources.target}})
    if (const yaml::Node *patch = overlay.find(key)) {
      requireMap(*patch, key);
      yaml::mergePatch(*part, *patch);
    }
  if (const yaml::Node *patches = overlay.find("instructions")) {
    requireMap(*patches, "instructions");
    patchInstructions(*patches, sources);
  }
}

// The target's, with the operators of the one that it names.
yaml::Node readTechnology(const fs::path &directory, const yaml::Node &target) {
  const yaml::Node *given = target.find("technology");
  auto read = [&](const std::string &name, const SourceLocation &location) {
    yaml::Node file = yaml::read(shipped(directory / "technologies", name, "technology", location));
    conform(file, FileKind::Technology);
    return file;
  };
  yaml::Node file =
      read(given ? given->text : defaultTechnology, given ? given->location() : target.location());
  const yaml::Node *of = file.find("operators_of");
  if ((of != nullptr) == (file.find("operators") != nullptr))
    throw UserError(file.location(), "'operators' and 'operators_of' stand both here, or neither",
                    "give one of them");
  if (!of)
    return file;
  const auto at = of - file.items.data();
  yaml::Node named = read(of->text, of->location());
  const yaml::Node *operators = named.find("operators");
  if (!operators)
    throw UserError(of->location(), fmt::format("'{}' has no operators of its own", of->text));
  file.keys[static_cast<size_t>(at)].text = "operators";
  file.items[static_cast<size_t>(at)] = *operators;
  return file;
}

} // namespace

std::string findDirectory(const LoadOptions &options) {
  if (!options.directory.empty())
    return options.directory;
  if (const char *set = std::getenv("TILEWRIGHT_ISA"))
    return set;
  std::error_code error;
  fs::path binary = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path &candidate : {binary / "../share/tilewright/isa", binary / "../../../isa",
                                    fs::path(TILEWRIGHT_ISA_SOURCE)})
    if (fs::exists(candidate / "description/machine.yaml", error))
      return candidate.lexically_normal().string();
  throw UserError({"", 0, 0, ""}, "the ISA description is nowhere to be found",
                  "set TILEWRIGHT_ISA to the directory that holds description/machine.yaml");
}

std::vector<std::string> shippedTargets(const LoadOptions &options) {
  const fs::path directory = fs::path(findDirectory(options)) / "targets";
  std::vector<std::string> names = namesIn(directory);
  if (names.empty())
    throw UserError({directory.string(), 0, 0, ""}, "there are no targets here",
                    "set TILEWRIGHT_ISA to the directory that holds description/ and targets/");
  return names;
}

std::vector<std::string> shippedDrams(const LoadOptions &options) {
  return namesIn(fs::path(findDirectory(options)) / "dram");
}

Sources readSources(const LoadOptions &options) {
  fs::path directory = findDirectory(options);
  Sources sources;
  sources.machine = yaml::read((directory / "description/machine.yaml").string());
  sources.timing = yaml::read((directory / "description/timing.yaml").string());
  sources.registers = yaml::read((directory / "description/registers.yaml").string());
  for (const std::string &name : namesIn(directory / "description/instructions"))
    sources.instructions[name] =
        yaml::read((directory / "description/instructions" / (name + ".yaml")).string());
  sources.target = yaml::read(targetPath(directory, options.target));
  std::vector<yaml::Node> overlays;
  for (const std::string &path : options.overlays) {
    overlays.push_back(yaml::read(path));
    conform(overlays.back(), FileKind::Overlay);
    // The preset is chosen before it is patched.
    if (const yaml::Node *target = overlays.back().find("target")) {
      requireMap(*target, "target");
      yaml::mergePatch(sources.target, *target);
    }
  }
  conform(sources.target, FileKind::Target);
  const yaml::Node &preset = *sources.target.find("dram");
  sources.dram =
      yaml::read(shipped(directory / "dram", preset.text, "DRAM preset", preset.location()));
  sources.technology = readTechnology(directory, sources.target);
  const bool areChanged = std::any_of(overlays.begin(), overlays.end(),
                                      [](const yaml::Node &o) { return o.find("instructions"); });
  for (const auto &[name, file] : sources.instructions)
    if (const yaml::Node *role = file.find("role"))
      sources.shippedRoles[role->text] = {name, areChanged ? std::optional(file) : std::nullopt};
  for (const yaml::Node &overlay : overlays)
    applyOverlay(overlay, sources);
  conform(sources.machine, FileKind::Machine);
  conform(sources.timing, FileKind::Timing);
  conform(sources.dram, FileKind::Dram);
  conform(sources.technology, FileKind::Technology);
  conform(sources.target, FileKind::Target);
  conform(sources.registers, FileKind::Registers);
  for (const auto &[name, file] : sources.instructions) {
    conform(file, FileKind::Instruction);
    const yaml::Node &given = *file.find("name");
    if (given.text != name)
      throw UserError(given.location(),
                      fmt::format("the instruction '{}' stands under the name '{}'",
                                  escape(given.text), escape(name)),
                      "name the file, or the overlay's key, after the instruction");
  }
  return sources;
}

} // namespace tilewright::isa
