// The SystemC model: a core module that issues TLM-2.0 transactions and a DRAM module that times
// them. The two are elaborated once a process (SystemC's kernel is global) and serve one run after
// the other.
#pragma once

#include "core.h"

#include "tilewright/simulator/memory/dram_model.h"

namespace tilewright::cycle {

// Runs a program on the SystemC model. Throws what the core throws. `clockHz` sets the simulated
// time of a cycle.
RunRecord simulate(const isa::Isa &isa, const std::vector<timing::InstructionPlan> &plans,
                   const Program &program, Values &values, DramModel &dram,
                   const CoreOptions &options);

} // namespace tilewright::cycle
