// All tilings of a convolution or matrix product: the space in which the planner's plans are
// points.
//
// Every size that is legal is a choice. Rows and columns of accumulator tiles, of steps, and of an
// image's first step are any; channels are cut at column tiles of the array, those of a step at
// tiles. The weights of a product of one pixel stand in the array or stream through it.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/plan_space.h"

namespace tilewright {

class ConvSpace : public PlanSpace {
public:
  enum Dimension : size_t {
    StreamFolds, // of a step; 0: the weights stand in the array
    TileHeight,
    TileWidth,
    TileChannels,
    StepHeight,
    StepWidth,
    StepChannels,
    FirstHeight,
    ResidentSteps, // 0: pixels, then channels
    Turns,         // 0, 1
    Merge,         // TapMerge
    InputParts,
    DepthParts,
    WeightParts,
    FirstTiles,
    TilesTogether,
    DimensionCount
  };
  ConvSpace(const ConvProblem &problem, const ConvMachine &machine)
      : problem_(problem), machine_(machine) {}

  size_t dimensions() const override { return DimensionCount; }
  std::vector<int64_t> choices(const PlanPoint &point, size_t d) const override;
  bool fits(const PlanPoint &point) const override;
  std::vector<float> features(const PlanPoint &point) const override;
  double analyticCycles(const PlanPoint &point) const override;

  // Buffers are doubled as far as there is room: the emitter does so too.
  ConvPlan plan(const PlanPoint &point) const;
  const ConvProblem &problem() const { return problem_; }
  PlanPoint point(const ConvPlan &plan) const;

private:
  int64_t mostPixels(int64_t channels) const; // of an accumulator tile
  std::vector<int64_t> tileChannels(const PlanPoint &point) const;
  int64_t products(const PlanPoint &point) const;
  // Of the weights: of one part of the depth.
  int64_t foldsOfPart(const ConvPlan &plan) const;

  ConvProblem problem_;
  ConvMachine machine_;
};

} // namespace tilewright
