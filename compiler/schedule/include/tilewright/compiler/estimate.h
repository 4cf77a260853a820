// The compiler's own idea of the time a program takes, without simulating it: one event an
// instruction and a DRAM burst instead of one a cycle, and no values.
//
// 1. Dispatch, queues, semaphores and the DMA units follow docs/microarchitecture.md; the DRAM is
// the engines' own model (simulator/memory).
// 2. Matrix and vector instructions take the time that their rows and beats need.
// 3. The matrix unit holds up the vector unit and its own loader by the banks that they share, on
// the average; other disputes about ports are left out, and a semaphore never overflows. That is
// the difference to the cycle engine, which the report prints for each layer.
#pragma once

#include "tilewright/compiler/emitter.h"
#include "tilewright/simulator/engine.h"
#include "tilewright/simulator/plan.h"

namespace tilewright {

// A record as the cycle engine would give it, with dispatch, start and end of every instruction.
RunRecord estimate(const std::vector<StreamInstruction> &stream, const isa::Isa &isa,
                   uint64_t codeAddress);

// The cycles alone. `plans` are cycle::makePlans(isa)'s, made once for many programs.
int64_t estimateCycles(const std::vector<StreamInstruction> &stream, const isa::Isa &isa,
                       const std::vector<cycle::InstructionPlan> &plans, uint64_t codeAddress);

} // namespace tilewright
