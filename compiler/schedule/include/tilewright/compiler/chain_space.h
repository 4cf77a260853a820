// All tilings of a chain of layers: the space in which planChain's plans are points.
#pragma once

#include "tilewright/compiler/chain_plan.h"
#include "tilewright/compiler/plan_space.h"

namespace tilewright {

class ChainSpace : public PlanSpace {
public:
  // Of a layer that the chain does not have, the one choice is 0.
  enum Dimension : size_t {
    StripeRows,
    FirstRows, // about as many as the other stripes have, a half or a quarter
    ChunkChannels,
    HeadMerge, // TapMerge
    HeadRows,
    TailRows,
    TailChannels,
    KeepsWeights, // 0, 1
    ArrayUnits,
    SegmentStripes,
    DimensionCount
  };
  // `problem` is one that planChain has plans for.
  ChainSpace(const ChainProblem &problem, const ConvMachine &machine)
      : problem_(problem), machine_(machine) {}

  size_t dimensions() const override { return DimensionCount; }
  std::vector<int64_t> choices(const PlanPoint &point, size_t d) const override;
  bool fits(const PlanPoint &point) const override;
  std::vector<float> features(const PlanPoint &point) const override;
  double analyticCycles(const PlanPoint &point) const override;

  ChainPlan plan(const PlanPoint &point) const;
  static PlanPoint point(const ChainPlan &plan);

private:
  ChainProblem problem_;
  ConvMachine machine_;
};

} // namespace tilewright
