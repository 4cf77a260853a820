// Names in a message: no more of them than a reader takes in.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

// "a, b, c and 4 more": the first `most`, and how many are left out.
std::string listed(const std::vector<std::string> &names, size_t most = 3);

} // namespace tilewright
