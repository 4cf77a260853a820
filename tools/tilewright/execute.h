// One program, one engine, a number of samples.
#pragma once

#include "border.h"
#include "load_program.h"
#include "tilewright/simulator/engine.h"

#include <functional>

#include <string>
#include <vector>

namespace tilewright {

struct Execution {
  RunRecord record;                       // of the first sample
  std::vector<std::vector<char>> outputs; // by output of the program: a sample after the other
  double wallSeconds = 0;                 // all samples, without reading and writing files
  bool stopped = false;                   // the limit ended a run; there are no outputs of it
};

// `afterRun` is called with the memory at the end of each run.
Execution execute(const LoadedProgram &loaded, Engine &engine, const Samples &samples,
                  const RunOptions &options,
                  const std::function<void(int64_t sample, DramImage &dram)> &afterRun = {});

// The resident memory of this process at its peak.
uint64_t peakRssBytes();

} // namespace tilewright
