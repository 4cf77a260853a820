// What differs between the runs of one program on two engines.
#pragma once

#include "tilewright/program/program.h"
#include "tilewright/simulator/engine.h"

#include <string>
#include <vector>

namespace tilewright {

// What one engine left behind.
struct RunOutcome {
  std::string engine;
  RunRecord record;              // of the first sample
  std::vector<DramImage> memory; // by sample, after the run
};

// "" when the runs agree; else the first difference in one line: of the path through the program,
// of the bytes an instruction moved, of the memory, of the cycles (where both engines count them),
// in this order.
std::string firstDifference(const Program &program, const RunOutcome &a, const RunOutcome &b);

} // namespace tilewright
