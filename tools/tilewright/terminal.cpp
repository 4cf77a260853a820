#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tilewright {

int terminalWidth() {
  struct winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 180;
}

} // namespace tilewright
