// The SystemC model: a core module that issues TLM-2.0 transactions and a DRAM module that times
// them. Each run has both, and a simulation context of its own.
#pragma once

#include "core.h"

#include "tilewright/simulator/memory/dram_model.h"

namespace tilewright::cycle {

// Runs a program on the SystemC model. Throws what the core throws. The ISA's clock sets the
// simulated time of a cycle. SystemC's current context is one of the process: one run at a time,
// in whatever thread.
RunRecord simulate(const isa::Isa &isa, const std::vector<timing::InstructionTiming> &timings,
                   const Program &program, Values &values, DramModel &dram,
                   const CoreOptions &options);

} // namespace tilewright::cycle
