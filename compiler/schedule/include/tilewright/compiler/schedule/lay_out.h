// Places of a group's buffers in the scratchpad, found for all its steps at once.
//
// 1. A buffer lives from the step before the one that names it first, under which it is loaded, to
// the last one that names it; what a step stores, and what it computes, one step longer.
// 2. The largest buffer first, each goes where nothing stands that lives at the same time: where
// the fewest of them share a bank, or else at the lowest address.
//
// (Greedy by size: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
// MLSys 2020 workshop.)
#pragma once

#include "tilewright/compiler/schedule/task.h"
#include "tilewright/isa/isa.h"

#include <cstdint>
#include <vector>

namespace tilewright {

// Of addresses on chip: in the scratchpad the bus's, in the accumulators a sum's.
int64_t alignmentOf(const isa::Isa &isa, const isa::Memory &memory);

// An address for each buffer in the scratchpad, -1 for the others; empty where they do not all fit.
std::vector<int64_t> layOut(const Steps &steps, const isa::Isa &isa);

} // namespace tilewright
