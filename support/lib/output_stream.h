// What is written to as it is, and cannot be replaced: a descriptor that is open, a pipe, a device.
#pragma once

#include "target_path.h"

#include <string>
#include <string_view>

namespace tilewright {

// Anything twice into it is as good as once.
bool isNullDevice(const TargetPath &target);

class OutputStream {
public:
  static bool isStream(const std::string &path);

  // Open until the end, so that a pipe's reader sees one stream. `fault` says why it cannot be.
  OutputStream(const std::string &path, std::string &fault);
  OutputStream(const OutputStream &) = delete;
  OutputStream &operator=(const OutputStream &) = delete;
  ~OutputStream();

  bool stat(struct stat &info) const { return ::fstat(descriptor_, &info) == 0; }
  // False with errno. A reader that is gone has all that it wanted.
  bool write(std::string_view bytes) const;

private:
  int descriptor_ = -1;
};

} // namespace tilewright
