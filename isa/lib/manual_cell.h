#pragma once

#include <string>

namespace tilewright::isa {

// A text within a table of Markdown, where a '|' would end a cell.
inline std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

} // namespace tilewright::isa
