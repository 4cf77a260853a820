// All schedules of a run of chains that may hand their results on to each other on chip: each
// chain's own (fused_stack_space.h), and which of them do so.
#pragma once

#include "tilewright/compiler/schedule/fused_stack_space.h"

namespace tilewright {

// Of a run's chains, in their order.
struct RunMember {
  FusedStackProblem problem;
  bool mayTake = false; // what the chain before leaves on chip, when its plan is for that
};

class RunSpace : public PlanSpace {
public:
  // Of each member: whether it hands on to the next one, then the dimensions of its own space.
  RunSpace(const std::vector<RunMember> &members, const ConvMachine &machine);

  size_t dimensions() const override;
  std::vector<int64_t> choices(const PlanPoint &point, size_t d) const override;
  bool fits(const PlanPoint &point) const override;
  std::vector<float> features(const PlanPoint &point) const override;
  double analyticCycles(const PlanPoint &point) const override;

  struct Plan {
    FusedStackPlan chain;
    bool handsOn;
  };
  std::vector<Plan> plan(const PlanPoint &point) const;
  PlanPoint point(const std::vector<Plan> &plans) const;

private:
  bool handsOn(const PlanPoint &point, size_t member) const;
  PlanPoint own(const PlanPoint &point, size_t member) const; // of its space

  std::vector<RunMember> members_;
  std::vector<FusedStackSpace> spaces_; // by member
};

} // namespace tilewright
