#include "tilewright/report/roofline.h"
#include "counts.h"

#include <algorithm>
#include <limits>

namespace tilewright::report {

static int64_t divideUp(int64_t value, int64_t by) {
  return by > 0 ? value / by + (value % by != 0) : 0;
}

Needs &Needs::operator+=(const Needs &other) {
  arrayMacs = sum(arrayMacs, other.arrayMacs);
  vectorMacs = sum(vectorMacs, other.vectorMacs);
  sharedMacs = sum(sharedMacs, other.sharedMacs);
  bytes = sum(bytes, other.bytes);
  return *this;
}

Roofline rooflineOf(const Needs &needs, const Peaks &peaks) {
  Roofline roofline;
  roofline.arrayCycles = divideUp(needs.arrayMacs, peaks.arrayMacs);
  roofline.vectorCycles = divideUp(needs.vectorMacs, peaks.vectorMacs);
  if (needs.sharedMacs > 0)
    roofline.sharedCycles = divideUp(sum(sum(needs.arrayMacs, needs.vectorMacs), needs.sharedMacs),
                                     sum(peaks.arrayMacs, peaks.vectorMacs));
  roofline.dramCycles = peaks.dram.cyclesFor(needs.bytes);
  roofline.needs = needs;
  return roofline;
}

int64_t Roofline::boundCycles() const {
  return std::max({arrayCycles, vectorCycles, sharedCycles, dramCycles});
}

const char *Roofline::boundBy() const {
  const int64_t bound = boundCycles();
  if (bound == 0)
    return "-";
  if (arrayCycles == bound)
    return "compute";
  if (vectorCycles == bound)
    return "vector";
  return sharedCycles == bound ? "both" : "dram";
}

double timesBound(const Roofline &roofline, int64_t cycles) {
  const int64_t bound = roofline.boundCycles();
  return bound > 0 && cycles >= bound ? static_cast<double>(cycles) / static_cast<double>(bound)
                                      : 0;
}

bool isHidden(const Roofline &roofline, int64_t cycles) { return cycles < roofline.boundCycles(); }

bool hidesMacs(const Roofline &roofline, int64_t cycles) {
  return cycles < std::max({roofline.arrayCycles, roofline.vectorCycles, roofline.sharedCycles});
}

} // namespace tilewright::report
