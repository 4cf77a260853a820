// Which layers run interleaved: for those, how far each is from its own bound says little, because
// one hides under the other.
#pragma once

#include "tilewright/report/report.h"

#include <vector>

namespace tilewright::report {

// Rows belong together when the instructions by which the matrix and the vector unit write memory
// for them are interleaved in the program's code. `rowOf` gives the row of each instruction of the
// program; -1 for none. The chains' figures are not filled in.
std::vector<Chain> findChains(const Program &program, const isa::Isa &isa,
                              const std::vector<int> &rowOf);

// Cycles, multiply-accumulates, bytes and bound of the chains' layers together.
void addUpChains(Report &report);

} // namespace tilewright::report
