// Workloads as integer TOSA: quantized once, kept in the user's cache by content.
#pragma once

#include "tilewright/explore/experiment.h"
#include "tilewright/explore/network.h"

#include <string>
#include <vector>

namespace tilewright::explore {

struct Prepared {
  Network network;
  std::string module; // integer TOSA as bytecode
  std::vector<std::string> warnings;
};

// `toolHash`: of whoever quantizes. Throws UserError.
Prepared prepare(const Workload &workload, const std::string &toolHash);

} // namespace tilewright::explore
