// A module as bytecode: read several times as fast as text.
#pragma once

#include <string>

namespace tilewright::explore {

// `text`: integer TOSA. Throws UserError whose place is `path`.
std::string bytecodeOf(const std::string &path, const std::string &text);

} // namespace tilewright::explore
