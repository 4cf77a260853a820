// The end of the process from outside: Ctrl-C, kill, a closed terminal.
#pragma once

namespace tilewright {

// From now on SIGINT, SIGTERM and SIGHUP first remove the file that is being written; then they end
// the process as they always do. A signal that is ignored (nohup) stays so.
void cleanUpOnInterrupt();

} // namespace tilewright
