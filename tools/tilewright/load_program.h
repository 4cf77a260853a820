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
LoadedProgram loadProgram(const std::string &path);

} // namespace tilewright
