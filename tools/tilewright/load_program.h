// A program file together with the ISA that it was made for.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <string>

namespace tilewright {

struct LoadedProgram {
  std::string path;
  isa::Isa isa;
  Program program;
};

// Throws UserError for a bad file, and for a description that has changed since the program was
// made.
// A program in parts is refused.
LoadedProgram loadProgram(const std::string &path);
// The same of the bytes of a program file, or of such a part of one.
LoadedProgram loadProgram(const std::string &path, const std::string &bytes);

} // namespace tilewright
