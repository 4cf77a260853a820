#include "description.h"

#include "tilewright/isa/roles.h"

#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

namespace tilewright::isa {

namespace fs = std::filesystem;

Description::Description() {
  std::string pattern = (fs::temp_directory_path() / "tilewright-isa-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw std::runtime_error("no temporary directory");
  path_ = pattern;
  for (const char *part : {"description", "targets", "dram", "technologies"})
    fs::copy(sourcePath(std::string("isa/") + part), fs::path(path_) / part,
             fs::copy_options::recursive);
}

Description::~Description() {
  std::error_code error;
  fs::remove_all(path_, error);
}

Description &Description::replace(const std::string &file, const std::string &from,
                                  const std::string &to) {
  std::string path = path_ + "/" + file, text = readFile(path);
  size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    throw std::logic_error("'" + from + "' does not occur once in " + file);
  writeFile(path, text.replace(at, from.size(), to));
  return *this;
}

Description &Description::write(const std::string &file, const std::string &text) {
  writeFile(path_ + "/" + file, text);
  return *this;
}

Description &Description::remove(const std::string &file) {
  fs::remove(path_ + "/" + file);
  return *this;
}

Description &Description::overlay(const std::string &body) {
  std::string file = fmt::format("overlay{}.yaml", overlays_.size());
  write(file, "schema: \"tilewright/overlay/1\"\nname: \"t\"\nsummary: \"s\"\n" + body);
  overlays_.push_back(path_ + "/" + file);
  return *this;
}

LoadOptions Description::options(const std::string &target) const {
  LoadOptions options;
  options.target = target;
  options.overlays = overlays_;
  options.directory = path_;
  return options;
}

Isa Description::load(const std::string &target) const { return isa::load(options(target)); }

std::string Description::error(const std::string &target) const {
  return relative(diagnosticOf([&] { load(target); }));
}

std::string Description::roleError() const {
  LoadOptions asked = options("edge16");
  asked.requiresRoleSemantics = true;
  return relative(diagnosticOf([&] { isa::load(asked); }));
}

std::string Description::relative(std::string text) const {
  for (size_t at; (at = text.find(path_ + "/")) != std::string::npos;)
    text.erase(at, path_.size() + 1);
  return text;
}

const Isa &shipped(const std::string &target) {
  static std::map<std::string, Isa> loaded;
  auto it = loaded.find(target);
  if (it == loaded.end()) {
    LoadOptions options;
    options.target = target;
    options.directory = sourcePath("isa");
    it = loaded.emplace(target, isa::load(options)).first;
  }
  return it->second;
}

Isa withOverlay(const std::string &name, const std::string &from, const std::string &to) {
  Description description;
  const std::string file = name + ".yaml";
  description.write(file, readFile(sourcePath("isa/what-if/" + file)));
  if (!from.empty())
    description.replace(file, from, to);
  LoadOptions options;
  options.directory = description.path();
  options.overlays = {description.path() + "/" + file};
  return load(options);
}

} // namespace tilewright::isa
