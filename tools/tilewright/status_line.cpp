#include "status_line.h"

#include "standard_streams.h"

#include <unistd.h>

namespace tilewright {

void StatusLine::show(const std::string &text) {
  const bool isTerminal = ::isatty(STDERR_FILENO) != 0;
  const auto pause = isTerminal ? std::chrono::milliseconds(100) : std::chrono::seconds(10);
  if (const auto now = Clock::now(); now - last_ >= pause) {
    printError(isTerminal ? "\r" + text + "\x1b[K" : text + "\n");
    isShown_ = isTerminal;
    last_ = now;
  }
}

void StatusLine::clear() {
  if (isShown_)
    printError("\r\x1b[K");
  isShown_ = false;
}

} // namespace tilewright
