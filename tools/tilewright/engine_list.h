// Engines on the command line: "functional,cycle".
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tilewright {

std::vector<std::string> splitEngines(const std::string &list);

// Accepts two names of engines or more.
CLI::Validator engineList();

} // namespace tilewright
