#include "load_program.h"

#include "parts.h"
#include "tilewright/support/error.h"
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

std::string readProgramFile(const std::string &path) { return readFile(path, maxFileBytes); }

LoadedProgram loadProgram(const std::string &path) {
  const std::string bytes = readProgramFile(path);
  if (isParted(bytes))
    throw UserError({path, 0, 0, ""}, "is a program in parts, of which the host runs some",
                    "`tilewright run` and `verify` take it; `ar x` gives the parts, of which those "
                    "that end in .elf are programs");
  return loadProgram(path, bytes);
}

LoadedProgram loadProgram(const std::string &path, const std::string &bytes) {
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
