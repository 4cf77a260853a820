// Which file a path names, whether it is there or is yet to be made.
#pragma once

#include <string>
#include <sys/stat.h>

namespace tilewright {

struct TargetPath {
  std::string path;          // without links; empty when they form a loop
  bool exists = false;       // then `info` is of the file
  bool parentExists = false; // then `parent` is of its directory
  struct stat info{}, parent{};
  std::string name; // in its directory

  bool isSame(const TargetPath &other) const;
  // Whether this is a directory that `other` is in, or will be.
  bool holds(const TargetPath &other) const;
};

TargetPath targetPath(const std::string &path);

// The descriptor that `-`, /dev/stdout, /dev/fd/N and their like name; -1 for other paths.
int descriptorNamed(const std::string &path);

} // namespace tilewright
