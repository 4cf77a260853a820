// What can be known to be wrong with an experiment before a network is compiled, or a folder made.
#pragma once

#include "tilewright/explore/experiment.h"

namespace tilewright::explore {

// Throws UserError at the place in the experiment: a file that is missing, a target or a parameter
// that is unknown, no setting at all, or too many. Overlays are read: a mistake in one has its
// place there.
void check(const Experiment &experiment);

} // namespace tilewright::explore
