// Engines on the command line: "functional,cycle".
#pragma once

#include "tilewright/simulator/engine/engine.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

std::vector<std::string> splitEngines(const std::string &list);

// How engines are made: makeEngine, or what a test puts in its place.
using EngineMaker =
    std::function<std::unique_ptr<Engine>(const std::string &name, const isa::Isa &isa)>;

// Accepts two names of engines or more.
CLI::Validator engineList();

} // namespace tilewright
