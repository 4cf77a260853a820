#include "target_path.h"

#include <charconv>
#include <filesystem>

namespace tilewright {

namespace fs = std::filesystem;

static bool areSame(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Follows links also where the last one's target is missing.
static fs::path withoutLinks(fs::path path) {
  constexpr int mostLinks = 40; // as the kernel has it
  std::error_code error;
  path = fs::absolute(path, error);
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    const fs::path next = fs::read_symlink(path, error);
    if (error || links == mostLinks)
      return {};
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  const fs::path parent = fs::weakly_canonical(path.parent_path(), error);
  path = (parent / path.filename()).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) // of `.`
    path = path.parent_path();
  return error ? fs::path() : path;
}

TargetPath targetPath(const std::string &path) {
  TargetPath target;
  const fs::path resolved = withoutLinks(path);
  target.path = resolved.string();
  target.name = resolved.filename().string();
  target.exists = ::stat(path.c_str(), &target.info) == 0;
  target.parentExists = ::stat(resolved.parent_path().c_str(), &target.parent) == 0;
  return target;
}

bool TargetPath::isSame(const TargetPath &other) const {
  if (exists || other.exists)
    return exists && other.exists && areSame(info, other.info);
  if (parentExists || other.parentExists)
    return parentExists && other.parentExists && areSame(parent, other.parent) &&
           name == other.name;
  return path == other.path;
}

bool TargetPath::holds(const TargetPath &other) const {
  return other.path.size() > path.size() && other.path.compare(0, path.size(), path) == 0 &&
         (other.path[path.size()] == '/' || path == "/");
}

int descriptorNamed(const std::string &path) {
  if (path == "-" || path == "/dev/stdout")
    return 1;
  if (path == "/dev/stderr")
    return 2;
  for (const char *directory : {"/dev/fd/", "/proc/self/fd/"}) {
    const size_t size = std::char_traits<char>::length(directory);
    int descriptor = -1;
    const char *end = path.data() + path.size();
    if (path.compare(0, size, directory) == 0 && path.size() > size) {
      const auto [stop, failure] = std::from_chars(path.data() + size, end, descriptor);
      return failure == std::errc() && stop == end ? descriptor : -1;
    }
  }
  return -1;
}

} // namespace tilewright
