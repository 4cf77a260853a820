// MLIR bytecode from a file that anyone may have written.
#pragma once

#include <string>

namespace tilewright {

// The text of the module, locations included. MLIR's reader of bytecode trusts counts and offsets
// that it finds, so a damaged file may end it: it runs in a process of its own, whose time and
// memory are bounded by the file's size. Throws UserError at `path` for what it does not read.
std::string textOfBytecode(const std::string &path, const std::string &bytes);

} // namespace tilewright
