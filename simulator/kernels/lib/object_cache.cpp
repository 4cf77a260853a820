#include "tilewright/simulator/kernels/object_cache.h"

#include "tilewright/support/cache_folder.h"
#include "tilewright/support/digest.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tilewright::kernels {

namespace fs = std::filesystem;

static constexpr size_t hashDigits = 64;

ObjectCache ObjectCache::inCacheHome(const char *folder) {
  return ObjectCache(cacheFolder(folder));
}

ObjectCache::ObjectCache(std::string directory) : directory_(std::move(directory)) {}

std::string ObjectCache::path(const std::string &key) const {
  return directory_ + "/" + key + ".o";
}

std::optional<std::string> ObjectCache::load(const std::string &key) const {
  if (directory_.empty())
    return std::nullopt;
  std::error_code error;
  // Never wait for a FIFO or device that stands where the file should.
  if (!fs::is_regular_file(path(key), error))
    return std::nullopt;
  std::ifstream file(path(key), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || bytes.size() < hashDigits)
    return std::nullopt;
  std::string object = bytes.substr(hashDigits);
  if (bytes.compare(0, hashDigits, sha256(object)) != 0)
    return std::nullopt;
  return object;
}

void ObjectCache::store(const std::string &key, const std::string &object) const {
  if (directory_.empty())
    return;
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error)
    return;
  // Another process may write the same kernel: each its own file, the last rename wins, all hold
  // the same.
  std::string temporary = path(key) + "." + std::to_string(::getpid()) + ".tmp";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << sha256(object) << object;
    file.close();
    if (!file) {
      fs::remove(temporary, error);
      return;
    }
  }
  fs::rename(temporary, path(key), error);
  if (error)
    fs::remove(temporary, error);
}

} // namespace tilewright::kernels
