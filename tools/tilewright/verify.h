// The work of `tilewright verify`.
#pragma once

#include "engine_list.h"

namespace tilewright {

struct VerifyOptions {
  std::string program;
  std::string engineList = "functional,cycle";
  std::vector<std::string> inputs;
  int64_t maxCycles = 0; // 0: no limit
  uint64_t seed = 0;
};

// Says how much is equal, or throws CheckFailed with the first difference.
void verify(const VerifyOptions &options, const EngineMaker &make = makeEngine);

} // namespace tilewright
