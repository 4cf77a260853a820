// The work of `tilewright fuzz`.
#pragma once

#include "engine_list.h"

namespace tilewright {

struct FuzzOptions {
  std::string engineList = "functional,cycle";
  std::vector<std::string> targets, overlays; // no target: edge16
  uint64_t count = 1000, seed = 1;
  int length = 60;
  int processes = 0; // 0: one a processor
  std::string directory = ".";
};

// Says how many programs are equal, or throws CheckFailed with the first difference after it has
// saved the program that shows it.
void fuzz(FuzzOptions options, const EngineMaker &make = makeEngine);

} // namespace tilewright
