// tilewright explore, in builds that have the compiler.
#pragma once

namespace CLI {
class App;
}

namespace tilewright {

void addExploreCommand(CLI::App &app);

} // namespace tilewright
