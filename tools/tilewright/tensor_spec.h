// A tensor on the command line: NAME=ADDRESS:DTYPE:SHAPE, as in x=0x100:int8:16x16.
#pragma once

#include "tilewright/program/program.h"

#include <string>

namespace tilewright {

// Throws UserError that names `option` for anything else. Addresses are decimal or, with 0x,
// hexadecimal.
TensorInfo parseTensorSpec(const std::string &option, const std::string &text);

// A whole decimal or 0x number, and nothing after it. Throws UserError that names `option`.
uint64_t parseNumber(const std::string &option, const std::string &text);

} // namespace tilewright
