// All schedules of a chain of layers: the space in which planFusedStack's plans are points.
//
// Every size that is legal is a choice: any rows of a stripe, of the first one and of tiles, all
// parts of the channels that begin where their parameters do; so many buffers of each kind as
// serve by turns; where windows are made; which work comes first where several may.
#pragma once

#include "tilewright/compiler/schedule/fused_stack_plan.h"
#include "tilewright/compiler/schedule/plan_space.h"

namespace tilewright {

class FusedStackSpace : public PlanSpace {
public:
  // Of a layer that the chain does not have, the one choice is 0.
  enum Dimension : size_t {
    TileRows,
    FirstRows,
    ChunkChannels,
    HeadMerge, // TapMerge
    HeadRows,
    TailRows,
    TailChannels,
    KeepsWeights,  // 0, 1
    TailComesLast, // 0, 1
    ArrayUnits,
    CachedTiles,
    ArrayPartOf,  // ArrayPart
    HeadChannels, // of an accumulator tile
    WindowRows,   // of an accumulator tile; 0 where an instruction slides windows
    LaneRows,     // 0: a quarter of the stripe's, or what accumulators hold
    FirstCopies,  // Copies, each a dimension
    MatrixOrder = FirstCopies + static_cast<size_t>(Copies::Count),
    VectorOrder,
    DimensionCount
  };
  // `problem` is one that planFusedStack has plans for.
  FusedStackSpace(const FusedStackProblem &problem, const ConvMachine &machine)
      : problem_(problem), machine_(machine) {}

  size_t dimensions() const override { return DimensionCount; }
  std::vector<int64_t> choices(const PlanPoint &point, size_t d) const override;
  bool fits(const PlanPoint &point) const override;
  std::vector<float> features(const PlanPoint &point) const override;
  double analyticCycles(const PlanPoint &point) const override;

  FusedStackPlan plan(const PlanPoint &point) const;
  PlanPoint point(const FusedStackPlan &plan) const;

private:
  FusedStackPlan planned(const PlanPoint &point) const; // not assessed
  std::vector<int64_t> copies(const PlanPoint &point, Copies which) const;

  FusedStackProblem problem_;
  ConvMachine machine_;
};

} // namespace tilewright
