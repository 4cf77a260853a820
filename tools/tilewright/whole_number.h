// A check of numbers on the command line; the parser's own takes 2^64 for 2^63 - 1.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace tilewright {

// Accepts decimal digits that give a number in [least, greatest], and nothing else.
CLI::Validator wholeNumber(uint64_t least, uint64_t greatest);

} // namespace tilewright
