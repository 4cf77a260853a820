#include "tilewright/report/roofline.h"

#include <algorithm>

namespace tilewright::report {

int64_t Roofline::boundCycles() const { return std::max({arrayCycles, vectorCycles, dramCycles}); }

const char *Roofline::boundBy() const {
  const int64_t bound = boundCycles();
  if (bound == 0)
    return "-";
  if (arrayCycles == bound)
    return "compute";
  return vectorCycles == bound ? "vector" : "dram";
}

double timesBound(const Roofline &roofline, int64_t cycles) {
  const int64_t bound = roofline.boundCycles();
  return bound > 0 ? static_cast<double>(cycles) / static_cast<double>(bound) : 0;
}

} // namespace tilewright::report
