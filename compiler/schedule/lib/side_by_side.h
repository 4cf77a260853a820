// Convolutions of one image, one after the other in the program (those that a concatenation puts
// together, as a rule), that run side by side: the image comes on chip once, and while one waits
// for DRAM the array has the other's work.
#pragma once

#include "find_chains.h"
#include "lowering.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct SideBySidePlan {
  int64_t stepHeight;               // output rows of a step; all columns
  int64_t tileHeight, tileChannels; // of an accumulator tile, at most
  int64_t tilesTogether;            // whose channels are stored at once
};

struct ChosenSideBySide {
  std::vector<kernel::GroupOp> groups;
  std::vector<int> layers; // of each, for the instructions' records
  SideBySidePlan plan;
  std::vector<int64_t> layout; // Steps::layout
  int64_t cycles;              // by the estimator, on an empty chip
  std::optional<RunnerUp> runnerUp;
};

// By the place of their first group in the program. Such as are in no chain, and take less time
// than one after the other.
std::map<size_t, ChosenSideBySide> findSideBySide(LoweringContext &context,
                                                  const std::vector<kernel::GroupOp> &groups,
                                                  const Chains &chains);

void lowerSideBySide(LoweringContext &context, const ChosenSideBySide &chosen, Steps &steps);

} // namespace tilewright
