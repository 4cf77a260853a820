// Plans of convolutions and matrix products whose sums stand in the array while activations and
// weights stream, where the machine has an instruction for that (tilewright/isa/stationary.h): a
// pure problem, without IR types.
//
// An accumulator tile is one instruction for each column tile: blocks of as many pixels as the
// array has rows, each of which goes through the whole reduction. Padding is on chip.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"

#include <vector>

namespace tilewright {

// The nest that one instruction reduces over: rows of taps, taps of a row that do not lie one
// behind the other, elements that do.
struct StandingTaps {
  int64_t rows, columns, depth;
};
StandingTaps standingTaps(const ConvProblem &problem, TapMerge merge);

// Cycles of so many pixels of a column tile.
int64_t standingCycles(const ConvProblem &problem, const ConvMachine &machine, TapMerge merge,
                       int64_t pixels);

// Whether the machine has such an instruction, and it counts so far.
bool mayStand(const ConvProblem &problem, const ConvMachine &machine);

// As planConvolution; none where sums may not stand in the array.
std::vector<ConvPlan> planStanding(const ConvProblem &problem, const ConvMachine &machine,
                                   size_t most, int64_t *smallest);

} // namespace tilewright
