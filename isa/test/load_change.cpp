#include "load_change.h"

#include "tilewright/support/files.h"

#include <algorithm>
#include <gmock/gmock.h>

using testing::StartsWith;

namespace tilewright::isa {

static std::string placeOf(const std::string &text, std::string at) {
  size_t caret = at.find('^');
  at.erase(caret, 1);
  size_t found = text.find(at);
  if (found == std::string::npos || text.find(at, found + 1) != std::string::npos)
    return "'" + at + "' does not occur once";
  size_t position = found + caret, lineStart = text.substr(0, position).rfind('\n') + 1;
  return std::to_string(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n') +
             1) +
         ":" + std::to_string(position - lineStart + 1);
}

TEST_P(LoadChange, IsRefused) {
  const ChangeCase &c = GetParam();
  Description description;
  description.replace(c.file, c.from, c.to);
  std::string location = placeOf(readFile(description.path() + "/" + c.file), c.at);
  EXPECT_THAT(description.error(), StartsWith(c.file + ":" + location + ": error: " + c.message));
}

} // namespace tilewright::isa
