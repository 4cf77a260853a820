// The command line as a whole: parses it, runs the subcommand, and turns whatever happens into an
// exit code.
#pragma once

#include <functional>

namespace tilewright {

// Calls `run` and gives its exit code, or that of what it throws: one diagnostic on standard error,
// and for our own mistakes a reproducer.
int guarded(const std::function<int()> &run);

// Gives the exit code (exit_code.h). Prints at most one diagnostic, on standard error.
int runTool(int argc, char **argv);

} // namespace tilewright
