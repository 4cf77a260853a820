#include "standard_streams.h"

#include "tilewright/support/files.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace tilewright {

void protectStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      // Read-only, also for output: a write fails as it would have.
      (void)!::open("/dev/null", O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // a write past `ulimit -f` fails, and says so
}

void print(std::string_view text) { writeFile("-", text); }

void printError(std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

} // namespace tilewright
