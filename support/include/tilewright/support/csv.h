#pragma once

#include <string>
#include <string_view>

namespace tilewright {

// A cell of text, quoted as RFC 4180 has it. A spreadsheet takes what starts like a formula for
// one: an apostrophe before it makes it text.
std::string csvCell(std::string_view text);

} // namespace tilewright
