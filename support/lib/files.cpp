#include "tilewright/support/files.h"

#include "tilewright/support/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

namespace {
// Closes a file descriptor at the end of its scope.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};
} // namespace

std::string readFile(const std::string &path, uint64_t limit) {
  Place place{path, 0, 0, ""};
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    throw UserError(place, fmt::format("cannot open: {}", std::strerror(errno)));
  struct stat info;
  if (::fstat(file.fd, &info) != 0)
    throw UserError(place, fmt::format("cannot read: {}", std::strerror(errno)));
  if (S_ISDIR(info.st_mode))
    throw UserError(place, "is a directory, not a file");
  if (!S_ISREG(info.st_mode))
    throw UserError(place, "is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > limit)
    throw UserError(place, fmt::format("is too large: {} bytes, at most {} are read", info.st_size, limit));
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      throw UserError(place, fmt::format("cannot read: {}", std::strerror(errno)));
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

static bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void writeFile(const std::string &path, std::string_view bytes) {
  if (path == "-") {
    if (!writeAll(STDOUT_FILENO, bytes))
      throw UserError({"standard output", 0, 0, ""}, fmt::format("cannot write: {}", std::strerror(errno)));
    return;
  }
  Place place{path, 0, 0, ""};
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    throw UserError(place, "is a directory, not a file");
  std::string temporary = path + ".XXXXXX";
  Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0)
    throw UserError(place, fmt::format("cannot write here: {}", std::strerror(errno)));
  mode_t mask = ::umask(0);
  ::umask(mask);
  bool written = writeAll(file.fd, bytes) && ::fchmod(file.fd, 0666 & ~mask) == 0 &&
                 ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    int cause = errno;
    ::unlink(temporary.c_str());
    throw UserError(place, fmt::format("cannot write: {}", std::strerror(cause)));
  }
}

} // namespace tilewright
