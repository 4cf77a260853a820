// How far a layer is from the least time that the machine's peaks allow it.
//
// The bound is the largest of four times: the multiply-accumulates that only the array makes, at
// the full array; those that the vector unit makes, at full lanes; all of them at both peaks
// together, where the program divides depthwise ones between the two; and the bytes that it has to
// move, at the rate at which DRAM streams at most. No order of the work takes less. The cycles that
// *belong* to a layer can be fewer all the same, since some of its work may be done in cycles that
// belong to others.
#pragma once

#include "tilewright/isa/streaming_rate.h"

#include <cstdint>

namespace tilewright::report {

// What has to be done, whatever the order.
struct Needs {
  int64_t arrayMacs = 0;
  int64_t vectorMacs = 0;
  int64_t sharedMacs = 0; // depthwise ones that the program divides between the two units
  // Inputs, weights and outputs once; what was moved, where that is less because tensors stay on
  // chip.
  int64_t bytes = 0;

  Needs &operator+=(const Needs &other);
};

// A cycle.
struct Peaks {
  int64_t arrayMacs = 0, vectorMacs = 0;
  isa::StreamingRate dram;
};

// In cycles, rounded up.
struct Roofline {
  int64_t arrayCycles = 0;
  int64_t vectorCycles = 0;
  int64_t sharedCycles = 0; // of all multiply-accumulates; 0 where none are shared
  int64_t dramCycles = 0;
  Needs needs = {};

  int64_t boundCycles() const;
  const char *boundBy() const; // "compute", "vector", "both", "dram"; "-" where the bound is 0
};

Roofline rooflineOf(const Needs &needs, const Peaks &peaks);

// cycles / bound; 0 where either is, and where the cycles are fewer: then work is done in cycles of
// other layers, and the quotient says nothing.
double timesBound(const Roofline &roofline, int64_t cycles);
// Whether that is so.
bool isHidden(const Roofline &roofline, int64_t cycles);
// Whether multiply-accumulates are among that work.
bool hidesMacs(const Roofline &roofline, int64_t cycles);

} // namespace tilewright::report
