// Cycles of plans: each emitted on an empty chip and timed by the cycle engine's core.
#pragma once

#include "tilewright/compiler/schedule/tuner.h"
#include "tilewright/simulator/cycle/timing_engine.h"

#include <optional>
#include <vector>

namespace tilewright {

class Meter {
public:
  explicit Meter(const isa::Isa &isa) : isa_(isa), engine_(isa) {}

  // In the order of the plans; nothing for those that do not fit on chip, and for those that take
  // more than `limit` cycles (0: no limit). Plans are emitted one by one and timed side by side.
  std::vector<std::optional<int64_t>>
  measure(const TunableKernel &kernel, const std::vector<PlanPoint> &points, int64_t limit) const;
  int64_t cycles(const Program &program) const { return *engine_.cycles(program); }

private:
  Program programOf(const PlanAlone &alone) const;

  const isa::Isa &isa_;
  TimingEngine engine_;
};

} // namespace tilewright
