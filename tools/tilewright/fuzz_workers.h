// Random programs on several processes: SystemC's kernel is one a process.
#pragma once

#include "fuzz_machines.h"

#include <functional>
#include <optional>

namespace tilewright {

// Programs 0 to count - 1 have seeds from `seed` on.
struct FuzzJob {
  std::vector<std::string> engines;
  uint64_t seed = 1;
  uint64_t count = 0;
  int length = 60;
  int processes = 1;
};

struct FuzzTally {
  uint64_t programs = 0;
  uint64_t kinds[lockstep::caseKinds] = {};
  uint64_t instructions = 0, cycles = 0, writes = 0, stallCycles = 0;
  // The first program on which the engines differ, or whose process ended.
  std::optional<uint64_t> different;
  bool ended = false;
};

// `progress` is called now and then. The tally is the same for any number of processes: it ends
// before the first program that differs.
FuzzTally runFuzz(FuzzMachines &machines, const FuzzJob &job,
                  const std::function<void(uint64_t programs)> &progress);

} // namespace tilewright
