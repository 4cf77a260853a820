// Rolls what repeats in a finished instruction stream into hardware loops.
//
// 1. Instructions are nodes. For each period, from 1 on, neighboring nodes that repeat at that
// distance are looked for: the same but for addresses, which all move by a constant from copy to
// copy. A repeat becomes one node, a loop, which longer periods may take up in turn.
// 2. Addresses that move by the same amounts in all loops around them share a base register. A
// repeat that needs more registers, or nests deeper, than the machine has stays as it is.
// 3. A loop adds to registers itself as far as the machine can, and its body ends with an addition
// to each other one that moves. A register that an inner loop moves goes back with that same
// addition. What it holds where a loop begins is known, and fields make up for it where they can.
// 4. What executes is the same: the same instructions of units in the same order, with the same
// addresses, layers, waits and signals.
//
// The description says which instructions loop and add; without them nothing is rolled.
#pragma once

#include "tilewright/compiler/schedule/emitter.h"
#include "tilewright/simulator/timing/instruction_timing.h"

#include <vector>

namespace tilewright {

// `stream` has neither loops nor base registers.
Stream rollLoops(const Stream &stream, const isa::Isa &isa);

// For estimates: loops add nothing to base registers themselves, and nobody checks that the same is
// executed.
Stream rollForTrial(const Stream &stream, const isa::Isa &isa);

// The same, with instructions of different units in an order in which more repeats (line_up.h). By
// the estimate the program takes no longer: else its order stays, and if loops themselves cost
// time, where short instructions follow each other faster than the sequencer executes what loops
// add, it stays without them. `plans` are timing::makeTimings(isa)'s.
Stream makeLoops(Stream stream, const isa::Isa &isa,
                 const std::vector<timing::InstructionTiming> &plans, uint64_t codeAddress);

} // namespace tilewright
