#include "load_program.h"

#include "tilewright/support/files.h"

namespace tilewright {

// With what is made of it, a program file of this size still fits in 1 GiB.
static constexpr uint64_t maxFileBytes = uint64_t(400) << 20;

LoadedProgram loadProgram(const std::string &path) {
  std::string bytes = readFile(path, maxFileBytes);
  ProgramTarget target = readProgramTarget(path, bytes);
  isa::LoadOptions options;
  options.target = target.target;
  options.overlays = target.overlays;
  LoadedProgram loaded{path, isa::load(options), {}};
  loaded.program = readProgram(path, bytes, loaded.isa);
  return loaded;
}

} // namespace tilewright
