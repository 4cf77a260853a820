#include "tilewright/isa/overlay_paths.h"

#include "resolver.h"
#include "tilewright/isa/schema.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

// Goes down the keys of a path, through the shape that a file has, and through what stands in it.
class Walk {
public:
  Walk(const Sources &sources, const std::vector<std::string> &path, const SourceLocation &location)
      : sources_(sources), path_(path), location_(location) {}

  void run() {
    const std::string &part = path_.front();
    if (part == "machine")
      return down(&sources_.machine, *schemaOf(FileKind::Machine).schema);
    if (part == "timing")
      return down(&sources_.timing, *schemaOf(FileKind::Timing).schema);
    if (part == "dram")
      return down(&sources_.dram, *schemaOf(FileKind::Dram).schema);
    if (part == "technology")
      return down(&sources_.technology, *schemaOf(FileKind::Technology).schema);
    if (part == "target")
      return down(&sources_.target, *schemaOf(FileKind::Target).schema);
    if (part == "instructions")
      return instruction();
    unknown("part of a description", part,
            {"machine", "timing", "dram", "technology", "target", "instructions"});
  }

private:
  // From the key at `at_` on, which `schema` is of.
  void down(const yaml::Node *node, const Schema &schema) {
    if (schema.kind != Schema::Kind::Object && schema.kind != Schema::Kind::MapOf) {
      const bool isValue = schema.kind != Schema::Kind::ListOf;
      if (isValue && at_ + 1 == path_.size())
        return;
      throw UserError(location_, isValue ? fmt::format("'{}' is a value, in which there is no '{}'",
                                                       path_[at_], escape(path_[at_ + 1]))
                                         : fmt::format("'{}' is a list, not a value", path_[at_]));
    }
    if (at_ + 1 == path_.size())
      throw UserError(location_, fmt::format("'{}' is a map, not a value", escape(path_[at_])),
                      fmt::format("go on with one of {}", fmt::join(namesOf(node, schema), ", ")));
    const std::string parent = fmt::format(" in '{}'", path_[at_]);
    const std::string &part = path_[++at_];
    const std::vector<std::string> names = namesOf(node, schema);
    if (std::find(names.begin(), names.end(), part) == names.end())
      isParam() ? unknown("param", part, names) : unknown("key", part, names, parent);
    const yaml::Node *item =
        node != nullptr && node->kind == yaml::Node::Kind::Map ? node->find(part) : nullptr;
    if (schema.kind == Schema::Kind::MapOf)
      return down(item, *schema.element);
    for (const SchemaField &field : schema.fields)
      if (part == field.name)
        return down(item, *field.schema);
  }

  void instruction() {
    std::vector<std::string> names;
    for (const auto &[name, file] : sources_.instructions)
      names.push_back(name);
    if (path_.size() == 1)
      throw UserError(location_, "'instructions' is a map, not a value",
                      "go on with an instruction's name");
    const auto found = sources_.instructions.find(path_[++at_]);
    if (found == sources_.instructions.end())
      unknown("instruction", path_[at_], names);
    down(&found->second, *schemaOf(FileKind::Instruction).schema);
  }

  bool isParam() const { return at_ == 2 && path_[0] == "target" && path_[1] == "params"; }

  // The keys that may stand below: of a map those that do, where no other file says more.
  std::vector<std::string> namesOf(const yaml::Node *node, const Schema &schema) const {
    std::vector<std::string> names;
    auto keysOf = [&](const yaml::Node *map) {
      for (size_t i = 0; map != nullptr && i < map->keys.size(); ++i)
        names.push_back(map->keys[i].text);
    };
    if (schema.kind == Schema::Kind::Object)
      for (const SchemaField &field : schema.fields)
        names.emplace_back(field.name);
    else if (path_[0] == "target") // params
      keysOf(sources_.machine.find("params"));
    else if (path_[0] == "timing") // instructions
      for (const auto &[name, file] : sources_.instructions)
        names.push_back(name);
    else
      keysOf(node);
    return names;
  }

  [[noreturn]] void unknown(const std::string &what, const std::string &name,
                            const std::vector<std::string> &names,
                            const std::string &where = "") const {
    const std::string near = nearest(name, names);
    throw UserError(location_, fmt::format("there is no {} '{}'{}", what, escape(name), where),
                    near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near));
  }

  const Sources &sources_;
  const std::vector<std::string> &path_;
  const SourceLocation &location_;
  size_t at_ = 0;
};

} // namespace

OverlayPaths::OverlayPaths(const LoadOptions &options)
    : sources_(std::make_unique<const Sources>(readSources(options))) {}
OverlayPaths::~OverlayPaths() = default;

void OverlayPaths::check(const std::vector<std::string> &path,
                         const SourceLocation &location) const {
  Walk(*sources_, path, location).run();
}

} // namespace tilewright::isa
