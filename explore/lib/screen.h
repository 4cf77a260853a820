// The analytical tier chooses which settings the simulated one gets.
//
// 1. `screen` settings are drawn.
// 2. Each is estimated on the base with its values in place of the figures that they name. No
//    description is loaded: overlays, and what no figure is named after, do not count here, and
//    whether the machine is legal is found when it is loaded.
// 3. The first `points` by Pareto rank remain; within a rank those with the least product of costs.
#pragma once

#include "settings.h"

#include "tilewright/explore/analytical.h"

#include <vector>

namespace tilewright::explore {

// Numbers of settings, ascending.
std::vector<uint64_t> screenedSettings(const Experiment &experiment, const Settings &settings,
                                       const Machine &base, const DramPresets &drams,
                                       const Technology &technology,
                                       const std::vector<Analytical> &workloads);

} // namespace tilewright::explore
