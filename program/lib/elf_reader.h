// Finds the parts of our ELF files, checking every offset and size before it is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::elf {

struct View {
  uint64_t address = 0;
  std::string_view bytes;
};

// Views into the file's bytes.
struct Parts {
  uint64_t entryAddress = 0;
  View code;
  std::vector<View> segments; // ascending, without overlap
  std::string_view info;
  std::string_view debug;
};

// Throws UserError for what is not such a file: magic, class, byte order, versions, machine, tables
// or sections past the end, overlapping or missing sections, segments outside the data section or
// overlapping in DRAM.
Parts read(const std::string &path, std::string_view file);

} // namespace tilewright::elf
