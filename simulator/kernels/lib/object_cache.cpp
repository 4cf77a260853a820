#include "tilewright/simulator/kernels/object_cache.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tilewright::kernels {

namespace fs = std::filesystem;

namespace {

constexpr size_t hashDigits = 64;

std::string directoryOf(const std::string &folder) {
  // Relative values are to be ignored (XDG Base Directory Specification).
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/tilewright/" + folder;
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/tilewright/" + folder;
  return "";
}

} // namespace

std::string contentHash(const std::string &content) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(content));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

ObjectCache ObjectCache::inCacheHome(const char *folder) {
  return ObjectCache(directoryOf(folder));
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
  if (bytes.compare(0, hashDigits, contentHash(object)) != 0)
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
    file << contentHash(object) << object;
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
