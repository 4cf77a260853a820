// The subcommands that need the compiler; left out of builds without it.
#pragma once

namespace CLI {
class App;
}

namespace tilewright {

void addCompileCommand(CLI::App &app);
void addFormatsCommand(CLI::App &app);

} // namespace tilewright
