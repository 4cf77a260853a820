// The compiler's own idea of the time a program takes, without simulating it: one event an
// instruction instead of one a cycle.
//
// 1. Instructions are taken in program order. Each starts when it is dispatched (fetch, queues),
// its unit is free and the instructions it waits for
//    have ended.
// 2. Its duration comes from the counts in its own semantics and from timing.yaml: rows of the
// array, beats of the vector unit, pieces of a DMA.
// 3. DRAM is a bus of so many cycles a time slot: each burst takes its share from the first slots
// with room. Row misses, turnarounds and refresh are
//    averages; port conflicts are left out. That is the difference to the cycle engine, which the
//    report prints for each layer.
#pragma once

#include "tilewright/compiler/emitter.h"
#include "tilewright/simulator/engine.h"

namespace tilewright {

// A record as the cycle engine would give it, with dispatch, start and end of every instruction.
RunRecord estimate(const std::vector<StreamInstruction> &stream, const isa::Isa &isa,
                   uint64_t codeAddress);

} // namespace tilewright
