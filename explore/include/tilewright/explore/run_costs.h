// Area and energy of one run, by the formulas and figures that sweeps use.
#pragma once

#include "tilewright/program/program.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/engine/engine.h"

namespace tilewright::explore {

// In the shipped technology. Energy only of a run whose engine has time. Throws UserError for a
// technology file that cannot be read.
report::Costs costsOf(const Program &program, const RunRecord &record, const isa::Isa &isa);

} // namespace tilewright::explore
