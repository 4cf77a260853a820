// Puts the instructions of a stream in an order in which more of it repeats.
//
// Units take their instructions from queues: when an instruction is dispatched matters little, as
// long as it is there when its unit comes to it and finds space in the queue. The order within each
// unit stays, and so does that of each signal and its wait.
//
// 1. The unit with the most instructions is the backbone. It is rolled into loops alone: that says
// where between two of its instructions others disturb least: between loops, else between copies,
// best where their number is round, which comes out alike where times differ a little.
// 2. Each instruction of another unit may stand anywhere in a window of the backbone: from where
// its unit's queue has space for it to where its unit starts it, as was estimated, and not before
// what it waits for or behind what waits for it.
// 3. Dynamic programming cuts them, in their order, into groups that stand at one point each, so
// that the points disturb least.
#pragma once

#include "loop_tree.h"

#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/simulator/engine/engine.h"

#include <vector>

namespace tilewright {

// The numbers of the stream's instructions in their new order; the old one where the new one could
// fill a semaphore. `times`: an estimate of the stream (estimate.h), which has neither loops nor
// base registers. `atOnce`: of so many instructions by themselves.
std::vector<uint32_t> lineUp(const Stream &stream, const StreamTimes &times, const isa::Isa &isa,
                             const LoopMachine &machine, size_t atOnce = mostAtOnce);

} // namespace tilewright
