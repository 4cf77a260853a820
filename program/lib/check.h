// What must hold for a program whatever file or compiler it came from.
#pragma once

#include "tilewright/program/program.h"

#include <string>

namespace tilewright {

// Throws UserError whose place is `path` for more DRAM than the ISA has or than the limit (4 GiB,
// or TILEWRIGHT_DRAM_LIMIT bytes).
void checkDram(const std::string &path, const Program &program, const isa::Isa &isa);

} // namespace tilewright
