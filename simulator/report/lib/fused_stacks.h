// Which layers run interleaved: for those, how far each is from its own bound says little, because
// one hides under the other.
#pragma once

#include "tilewright/report/report.h"

#include <vector>

namespace tilewright::report {

// Rows belong together when the instructions by which the matrix and the vector unit write memory
// for them are interleaved in the program's code. `rowOf` gives the row of each instruction of the
// program; -1 for none. The figures of the stacks are not filled in.
std::vector<FusedStack> findFusedStacks(const Program &program, const isa::Isa &isa,
                                        const std::vector<int> &rowOf);

// Cycles, multiply-accumulates, bytes and bound of the layers of each stack together.
void addUpFusedStacks(Report &report);

} // namespace tilewright::report
