#include "load_program.h"

#include "tilewright/support/files.h"

#include <filesystem>

namespace tilewright {

// With what is made of it, a program file of this size still fits in 1 GiB.
static constexpr uint64_t maxFileBytes = uint64_t(400) << 20;

// A file that the compiler was given by a relative path is sought from here and from the program's
// directory, so that a program and its description can move together. A target's name stays as it
// is.
static std::string locate(const std::string &name, const std::string &program) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(program).parent_path() / name;
  std::error_code ignored;
  return !fs::exists(name, ignored) && fs::is_regular_file(beside, ignored) ? beside.string()
                                                                            : name;
}

LoadedProgram loadProgram(const std::string &path) {
  std::string bytes = readFile(path, maxFileBytes);
  ProgramTarget target = readProgramTarget(path, bytes);
  isa::LoadOptions options;
  options.target = locate(target.target, path);
  for (const std::string &overlay : target.overlays)
    options.overlays.push_back(locate(overlay, path));
  LoadedProgram loaded{path, isa::load(options), {}};
  loaded.program = readProgram(path, bytes, loaded.isa);
  return loaded;
}

} // namespace tilewright
