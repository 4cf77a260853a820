// Compiled code on disk, by content: ${XDG_CACHE_HOME:-~/.cache}/tilewright/FOLDER/<key>.o.
//
// A file holds a checksum before the object, so that a damaged one is compiled anew. A cache that
// cannot be read or written is no error: code is then compiled every time.
#pragma once

#include <optional>
#include <string>

namespace tilewright::kernels {

class ObjectCache {
public:
  static ObjectCache inCacheHome(const char *folder); // at the place above; none without HOME
  explicit ObjectCache(std::string directory);        // empty: no cache

  std::optional<std::string> load(const std::string &key) const;
  void store(const std::string &key, const std::string &object) const;

private:
  std::string path(const std::string &key) const;
  std::string directory_;
};

// 64 hex digits of SHA-256.
std::string contentHash(const std::string &content);

} // namespace tilewright::kernels
