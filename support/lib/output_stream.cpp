#include "output_stream.h"

#include "temporary_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace tilewright {

bool isNullDevice(const TargetPath &target) {
  return target.exists && S_ISCHR(target.info.st_mode) && target.info.st_rdev == makedev(1, 3);
}

bool OutputStream::isStream(const std::string &path) {
  struct stat info;
  return descriptorNamed(path) >= 0 ||
         (::stat(path.c_str(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)));
}

// A reader that is started beside us may open the pipe a little later.
static int openPipe(const std::string &path) {
  using namespace std::chrono;
  const auto latest = steady_clock::now() + seconds(2);
  for (;;) {
    const int opened = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (opened >= 0 || errno != ENXIO || steady_clock::now() > latest)
      return opened;
    std::this_thread::sleep_for(milliseconds(10));
  }
}

OutputStream::OutputStream(const std::string &path, std::string &fault) {
  const int named = descriptorNamed(path);
  descriptor_ = named >= 0 ? ::fcntl(named, F_DUPFD_CLOEXEC, 3) : openPipe(path);
  if (descriptor_ < 0) {
    fault = errno == ENXIO ? "nothing reads from this pipe"
                           : fmt::format("cannot write here: {}", std::strerror(errno));
    return;
  }
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if ((flags & O_ACCMODE) == O_RDONLY)
    fault = fmt::format("cannot write here: {}", std::strerror(EBADF));
  if (named < 0)
    ::fcntl(descriptor_, F_SETFL, flags & ~O_NONBLOCK);
}

OutputStream::~OutputStream() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

bool OutputStream::write(std::string_view bytes) const {
  return writeAll(descriptor_, bytes) || errno == EPIPE;
}

} // namespace tilewright
