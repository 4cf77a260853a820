// The two JSON sections of a program: what it is made for and of (info), and what a report says of
// it (debug).
#pragma once

#include "tilewright/program/program.h"

#include <string>
#include <string_view>

namespace tilewright {

// Keys in a fixed order; the same program gives the same text. Throw std::invalid_argument for a
// scale that is not finite.
std::string writeInfo(const Program &program);
std::string writeDebug(const Program &program);

// Fill the program's fields. Throw UserError naming the file, the section and the key.
void readInfo(const std::string &path, std::string_view text, Program &program);
void readDebug(const std::string &path, std::string_view text, Program &program);

} // namespace tilewright
