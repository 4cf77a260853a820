// The compiler's own idea of the time a program takes, without simulating it: one event an
// instruction and a DRAM burst instead of one a cycle, and no values.
//
// 1. Dispatch, queues, semaphores and the DMA units follow docs/microarchitecture.md; the DRAM is
// the engines' own model (simulator/memory).
// 2. Matrix and vector instructions take the time that their rows and beats need.
// 3. A unit's way through the banks of a memory is cut into stretches that stay in the same banks
// (bank_walk.h). Who comes first at a port leaves holds there (holds.h); who comes later waits for
// them: weights behind activations, the vector unit behind both and behind accumulators that the
// array reads or writes, stores behind all of these, loads behind what the vector unit writes.
// 4. Left out are taps of a window that stands in several banks, which wait together, conflicts of
// loads into the accumulators with the array, and semaphores that overflow. That is the difference
// to the cycle engine, which the report prints for each layer.
#pragma once

#include "tilewright/compiler/schedule/stream.h"
#include "tilewright/simulator/engine/attribution.h"
#include "tilewright/simulator/timing/instruction_timing.h"

namespace tilewright {

// `plans` below are timing::makeTimings(isa)'s, made once for many programs.

// Of each instruction, by its number in a stream without loops, in which cycle it is dispatched and
// starts.
struct StreamTimes {
  int64_t cycles = 0;
  std::vector<int64_t> dispatch, start;
};
StreamTimes estimateTimes(const Stream &stream, const isa::Isa &isa,
                          const std::vector<timing::InstructionTiming> &plans,
                          uint64_t codeAddress);

// What says to which layer each cycle belongs.
ExecutedSpans estimateSpans(const Stream &stream, const isa::Isa &isa, uint64_t codeAddress);

// The cycles alone. A program that takes `enough` cycles or more need not be looked at to its end:
// any number from `enough` on may be returned for it. `moved`: the bytes that are loaded and stored
// until then.
int64_t estimateCycles(const Stream &stream, const isa::Isa &isa,
                       const std::vector<timing::InstructionTiming> &plans, uint64_t codeAddress,
                       int64_t enough = INT64_MAX, int64_t *moved = nullptr);

} // namespace tilewright
