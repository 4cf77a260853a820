#include "interrupts.h"

#include "tilewright/support/files.h"

#include <csignal>
#include <initializer_list>

namespace tilewright {

static void onInterrupt(int signal) {
  removeUnfinishedFile();
  // SA_RESETHAND has brought the default action back.
  ::raise(signal);
}

void cleanUpOnInterrupt() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old{};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN)
      continue;
    struct sigaction action{};
    action.sa_handler = onInterrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace tilewright
