// tilewright isa: ask the description.
#pragma once

namespace CLI {
class App;
}

namespace tilewright {

// Adds `isa` with its subcommands check, show, list, limits, doc, diff, vectors, rtl and
// registers.
void addIsaCommands(CLI::App &app);

} // namespace tilewright
