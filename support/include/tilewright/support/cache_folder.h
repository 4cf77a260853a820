// Where what can be made again is kept between runs.
#pragma once

#include <string>

namespace tilewright {

// ${XDG_CACHE_HOME:-$HOME/.cache}/tilewright/NAME, which need not exist; "" where neither variable
// holds an absolute path: relative ones are ignored (XDG Base Directory Specification).
std::string cacheFolder(const std::string &name);

} // namespace tilewright
