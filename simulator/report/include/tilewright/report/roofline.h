// How far a layer is from the least time that the machine's peaks allow it.
//
// The bound is the larger of three times: its multiply-accumulates at the full array; those that
// the vector unit does (depthwise) at full lanes; and the bytes that it has to move at the DRAM
// bus's peak. A layer whose loads hide under another layer's work can take less than its bound.
#pragma once

#include <cstdint>

namespace tilewright::report {

// In cycles, rounded up.
struct Roofline {
  int64_t arrayCycles = 0;
  int64_t vectorCycles = 0;
  int64_t dramCycles = 0;
  // Inputs, weights and outputs once; what was moved, where that is less because tensors stay on
  // chip.
  int64_t neededBytes = 0;

  int64_t boundCycles() const;
  const char *boundBy() const; // "compute", "vector", "dram"; "-" where the bound is 0
};

// cycles / bound; 0 where either is.
double timesBound(const Roofline &roofline, int64_t cycles);

} // namespace tilewright::report
