#include "tilewright/support/find_program.h"

#include <llvm/Support/Program.h>

namespace tilewright {

std::string findProgram(std::string_view name) {
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name);
  return path ? *path : "";
}

} // namespace tilewright
