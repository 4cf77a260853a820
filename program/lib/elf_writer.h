// Writes code, DRAM segments and two JSON texts as an ELF64 little-endian executable.
#pragma once

#include "tilewright/program/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::elf {

struct Contents {
  std::string_view code;
  uint64_t codeAddress = 0;
  uint64_t entryAddress = 0;
  const std::vector<Segment> *segments = nullptr;
  std::string_view info;
  std::string_view debug;
};

// The same contents give the same bytes. Throws std::length_error for more segments than ELF can
// count (65534).
std::string write(const Contents &contents);

} // namespace tilewright::elf
