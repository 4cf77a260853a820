#include "tilewright/support/csv.h"

namespace tilewright {

std::string csvCell(std::string_view text) {
  std::string cell = "\"";
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos)
    cell += '\'';
  for (const char each : text)
    cell += each == '"' ? std::string("\"\"") : std::string(1, each);
  return cell + "\"";
}

} // namespace tilewright
