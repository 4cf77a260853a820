// All tilings of a convolution or matrix product: the space in which planConvolution's plans are
// points.
//
// An axis is cut into accumulator tiles of even size: for each number of tiles, the least size that
// makes so few. A step has whole accumulator tiles, the first one about as many rows as the others,
// a half or a quarter of them; channels are cut at column tiles of the array.
#pragma once

#include "tilewright/compiler/conv_plan.h"
#include "tilewright/compiler/plan_space.h"

namespace tilewright {

class ConvSpace : public PlanSpace {
public:
  enum Dimension : size_t {
    TileHeight,
    TileWidth,
    TileChannels,
    StepHeight,
    StepWidth,
    StepChannels,
    FirstHeight,
    WeightsOuter, // 0, 1
    Turns,        // 0, 1
    Merge,        // TapMerge
    InputParts,
    WeightParts,
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
  int64_t products(const PlanPoint &point) const;

  ConvProblem problem_;
  ConvMachine machine_;
};

} // namespace tilewright
