// MLIR bytecode from a file that anyone may have written.
#pragma once

#include <string>

namespace tilewright {

bool isBytecode(const std::string &bytes); // by how it begins

// Throws the UserError that says why bytecode at `path` cannot be read.
[[noreturn]] void failOnBytecode(const std::string &path, const std::string &why);

// The text of the module, locations included. MLIR's reader of bytecode trusts counts and offsets
// that it finds, so a damaged file may end it: it runs in a process of its own, whose time and
// memory are bounded by the file's size. Throws UserError at `path` for what it does not read.
std::string textOfBytecode(const std::string &path, const std::string &bytes);

} // namespace tilewright
