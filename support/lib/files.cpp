#include "tilewright/support/files.h"

#include "tilewright/support/error.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
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
    throw UserError(
        place, fmt::format("is too large: {} bytes, at most {} are read", info.st_size, limit));
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

// The temporary file of the `writeFile` under way, for a signal handler to remove; valid while
// `unfinishedExists`.
static char unfinished[4096];
static volatile std::sig_atomic_t unfinishedExists = 0;

void removeUnfinishedFile() {
  if (unfinishedExists)
    ::unlink(unfinished);
}

namespace {
// A new file beside `path` that is gone at the end of its scope unless it was renamed. One at a
// time: a signal handler removes it.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &path) : lock_(mutex()) {
    for (int attempt = 0; attempt < 16 && file_.fd < 0; ++attempt) {
      // Of fixed length, since the file's own name may be as long as a name can be.
      auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      name_ = path.substr(0, path.rfind('/') + 1) +
              fmt::format(".tilewright-{}-{:x}.tmp", ::getpid(), now);
      if (name_.size() >= sizeof unfinished) {
        errno = ENAMETOOLONG;
        return;
      }
      // Before it exists, so that no signal comes between.
      std::strcpy(unfinished, name_.c_str());
      unfinishedExists = 1;
      file_.fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_.fd < 0 && errno != EEXIST)
        return;
    }
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (file_.fd >= 0 && !renamed_)
      ::unlink(name_.c_str());
    unfinishedExists = 0;
  }

  int descriptor() const { return file_.fd; }
  bool renameTo(const std::string &path) {
    renamed_ = ::rename(name_.c_str(), path.c_str()) == 0;
    return renamed_;
  }

private:
  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  std::string name_;
  Descriptor file_{-1};
  bool renamed_ = false;
};
} // namespace

void writeFile(const std::string &path, std::string_view bytes) {
  if (path == "-") {
    // A reader that is gone, as in `... | head`, has all that it wanted.
    if (!writeAll(STDOUT_FILENO, bytes) && errno != EPIPE)
      throw UserError({"standard output", 0, 0, ""},
                      fmt::format("cannot write: {}", std::strerror(errno)));
    return;
  }
  Place place{path, 0, 0, ""};
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw UserError(place,
                    S_ISDIR(info.st_mode) ? "is a directory, not a file" : "is not a regular file");
  TemporaryFile file(path);
  if (file.descriptor() < 0)
    throw UserError(place, fmt::format("cannot write here: {}", std::strerror(errno)));
  if (!writeAll(file.descriptor(), bytes) || !file.renameTo(path))
    throw UserError(place, fmt::format("cannot write: {}", std::strerror(errno)));
}

} // namespace tilewright
