// Which buffers of a run of chains are at work at the same time, and what they would cost each
// other in one bank (rows PORT-* and VEC-strip of docs/microarchitecture.md).
#pragma once

#include "chain_run.h"

#include "tilewright/compiler/schedule/bank_places.h"

namespace tilewright::chains {

// Of buffers by their numbers in Steps::buffers, given when each piece starts.
std::vector<BankConflict> conflictsOf(const LoweringContext &context, const Run &run,
                                      const std::vector<int64_t> &starts);

} // namespace tilewright::chains
