// A verilated model of a machine: built when it is first asked for, kept in a cache, loaded as a
// library.
#pragma once

#include "tilewright/rtl/model_interface.h"

#include "tilewright/isa/isa.h"

#include <string>

namespace tilewright::rtl {

// The functions of a loaded model. Lives as long as the process.
struct ModelLibrary {
  CreateModel create = nullptr;
  DestroyModel destroy = nullptr;
  ClockModel clock = nullptr;
  WavesModel waves = nullptr;
};

// Generates, verilates and compiles what the cache does not hold, with progress on standard error.
// Throws UserError when verilator or a compiler is missing, or when the build fails (it names the
// log). `Waves` is a model that can write its signals, and slower.
enum class Signals { Hidden, Waves };
const ModelLibrary &loadModel(const isa::Isa &isa, Signals signals = Signals::Hidden);
// Throws what loadModel would throw before it builds: for a machine that the templates do not make,
// and for missing tools.
void checkModel(const isa::Isa &isa);
// Where the cache holds the model of a machine, or will: machines of the same RTL share it.
std::string modelPath(const isa::Isa &isa);

} // namespace tilewright::rtl
