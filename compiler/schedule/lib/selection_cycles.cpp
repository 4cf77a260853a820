#include "selection_cycles.h"

#include <algorithm>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t selectionCycles(const isa::Isa &isa, const cycle::InstructionPlan &plan,
                        const int64_t *immediates) {
  isa::ScalarContext scalars;
  scalars.immediates = immediates;
  const int64_t lanes = isa.param("lanes");
  int64_t cycles = 0;
  for (const cycle::StepPlan &step : plan.steps) {
    int64_t elements = 1, pieces = 1; // pieces: of a beat
    for (const cycle::Scalar &extent : step.extents)
      elements *= extent(scalars);
    for (const cycle::StreamPlan &read : step.reads)
      pieces =
          std::max(pieces, ceilDiv(lanes * read.elementBytes, isa.memory(read.space).portBytes));
    cycles += ceilDiv(elements, lanes) * pieces;
  }
  return cycles;
}

} // namespace tilewright
