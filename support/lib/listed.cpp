#include "tilewright/support/listed.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

std::string listed(const std::vector<std::string> &names, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most)
    text += fmt::format(" and {} more", names.size() - most);
  return text;
}

} // namespace tilewright
