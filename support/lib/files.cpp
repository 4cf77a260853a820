#include "tilewright/support/files.h"

#include "temporary_file.h"
#include "tilewright/support/descriptor.h"
#include "tilewright/support/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

std::string readFile(const std::string &path, uint64_t limit) {
  SourceLocation location{path, 0, 0, ""};
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0)
    throw UserError(location, fmt::format("cannot open: {}", std::strerror(errno)));
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    throw UserError(location, fmt::format("cannot read: {}", std::strerror(errno)));
  if (S_ISDIR(info.st_mode))
    throw UserError(location, "is a directory, not a file");
  if (!S_ISREG(info.st_mode))
    throw UserError(location, "is not a regular file");
  noteRead(info);
  if (static_cast<uint64_t>(info.st_size) > limit)
    throw UserError(
        location, fmt::format("is too large: {} bytes, at most {} are read", info.st_size, limit));
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      throw UserError(location, fmt::format("cannot read: {}", std::strerror(errno)));
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

void writeFile(const std::string &path, std::string_view bytes) {
  if (path == "-") {
    // A reader that is gone, as in `... | head`, has all that it wanted.
    if (!writeAll(STDOUT_FILENO, bytes) && errno != EPIPE)
      throw UserError({"standard output", 0, 0, ""},
                      fmt::format("cannot write: {}", std::strerror(errno)));
    return;
  }
  SourceLocation location{path, 0, 0, ""};
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw UserError(location,
                    S_ISDIR(info.st_mode) ? "is a directory, not a file" : "is not a regular file");
  TemporaryFile file(path);
  if (!file.exists())
    throw UserError(location, fmt::format("cannot write here: {}", std::strerror(errno)));
  if (!file.write(bytes) || !file.close() || !file.renameTo(path))
    throw UserError(location, fmt::format("cannot write: {}", std::strerror(errno)));
}

} // namespace tilewright
