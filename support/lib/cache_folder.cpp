#include "tilewright/support/cache_folder.h"

#include <cstdlib>

namespace tilewright {

std::string cacheFolder(const std::string &name) {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/tilewright/" + name;
  if (const char *home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/tilewright/" + name;
  return "";
}

} // namespace tilewright
