// The command line as a whole: parses it, runs the subcommand, and turns whatever happens into an
// exit code.
#pragma once

namespace tilewright {

// Gives the exit code (exit_code.h). Prints at most one diagnostic, on standard error.
int runTool(int argc, char **argv);

} // namespace tilewright
