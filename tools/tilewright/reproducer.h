// What is saved when the tool itself is at fault, so that a report of it can be reproduced.
#pragma once

namespace tilewright {

// Remembers the command line, and from now on a crash (segmentation fault, abort, ...) says
// "internal error", saves a reproducer and exits with code 70.
void catchCrashes(int argc, char **argv);

// Saves the command line, the version and the files that the command line names into a new
// directory under TMPDIR, /tmp or the current directory, and says on standard error what happened
// and where it is. `what` is the failure in one line. Calls only what a signal handler may call.
void reportInternalError(const char *what);

} // namespace tilewright
