// The cycle engine's SystemC model: a core and a DRAM that times its transactions. Each run has
// both, and a simulation context of its own.
#pragma once

#include "tilewright/simulator/cycle/tlm_core.h"

#include "tilewright/simulator/memory/dram_model.h"

namespace tilewright::cycle {

// Runs a program on the machine, whose state has the DRAM. Throws what the core throws. SystemC's
// current context is one of the process: one run at a time, in whatever thread.
RunRecord simulate(Machine &machine, const Program &program, const DramConfig &dram,
                   const CoreOptions &options);

} // namespace tilewright::cycle
