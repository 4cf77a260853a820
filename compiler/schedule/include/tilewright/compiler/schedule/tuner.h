// Where the scheduler asks for better plans than its own, one kernel after the other.
#pragma once

#include "tilewright/compiler/schedule/emitter.h"
#include "tilewright/compiler/schedule/plan_space.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// A kernel under one plan as a program of its own: on an empty chip, at addresses that depend on
// the kernel alone.
struct PlanAlone {
  Stream stream;
  uint64_t codeAddress = 0;
};

struct TunableKernel {
  std::string signature; // kernels of the same one take the same time under the same plan
  std::string layer;     // the user's name of the layer at hand
  const PlanSpace &space;
  PlanPoint planned;                              // the planner's choice
  std::function<std::vector<PlanPoint>()> others; // that it would try next
  // Nothing when the plan does not fit on chip.
  std::function<std::optional<PlanAlone>(const PlanPoint &)> emit;
};

class Tuner {
public:
  virtual ~Tuner() = default;
  // A plan of the kernel's space; nothing: the planner's. Called for each layer.
  virtual std::optional<PlanPoint> choose(const TunableKernel &kernel) = 0;
};

} // namespace tilewright
