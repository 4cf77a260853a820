// How a core runs a program.
#pragma once

#include "tilewright/simulator/engine/run_sink.h"

#include <cstdint>

namespace tilewright::cycle {

struct CoreOptions {
  int64_t maxCycles = 0; // 0: no limit
  bool trace = true;
  bool skip = true; // false: every cycle is stepped; the record is the same
  RunSink *sink = nullptr;
};

} // namespace tilewright::cycle
