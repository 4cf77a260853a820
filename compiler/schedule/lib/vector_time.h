// How long the vector unit works on an instruction that has its ports for itself (rows VEC-* of
// docs/microarchitecture.md).
#pragma once

#include "tilewright/simulator/plan.h"

namespace tilewright {

class VectorTime {
public:
  explicit VectorTime(const isa::Isa &isa) : isa_(isa), lanes_(isa.param("lanes")) {}

  // Cycles in which it reads, and those in which writes of several pieces hold it up. `addresses`
  // by operand.
  int64_t reads(const cycle::InstructionPlan &plan, const isa::ScalarContext &context,
                const int64_t *addresses) const;

private:
  int64_t stepCycles(const cycle::StepPlan &step, const isa::ScalarContext &context,
                     const int64_t *addresses) const;

  const isa::Isa &isa_;
  int64_t lanes_;
};

} // namespace tilewright
