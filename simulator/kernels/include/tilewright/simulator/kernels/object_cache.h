// Compiled code on disk, by content: DIRECTORY/<key>.o.
//
// A file holds a checksum before the object, so that a damaged one is compiled anew. A cache that
// cannot be read or written is no error: code is then compiled every time.
#pragma once

#include <optional>
#include <string>

namespace tilewright::kernels {

class ObjectCache {
public:
  static ObjectCache inCacheHome(const char *folder); // in cacheFolder(folder)
  explicit ObjectCache(std::string directory);        // empty: no cache

  std::optional<std::string> load(const std::string &key) const;
  void store(const std::string &key, const std::string &object) const;

private:
  std::string path(const std::string &key) const;
  std::string directory_;
};

} // namespace tilewright::kernels
