// Plans of products of one pixel whose weights stream through the array (weight_stream.h in lib): a
// pure problem, without IR types.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"

#include <vector>

namespace tilewright {

// Whether a convolution is such a product, and its pixel lies in DRAM as one run.
bool isOnePixel(const ConvProblem &problem);

// Channels that a tile may have, ascending: a tile of several blocks of parameters begins at a
// block.
std::vector<int64_t> streamTiles(const ConvProblem &problem, const ConvMachine &machine);
// The plan with tiles of so many channels and steps of so many folds.
ConvPlan streamPlan(const ConvProblem &problem, const ConvMachine &machine, int64_t tileChannels,
                    int64_t folds);

// Plans to try out; they may not fit.
std::vector<ConvPlan> planWeightStream(const ConvProblem &problem, const ConvMachine &machine);

} // namespace tilewright
