// Which neighbors of a program overlap (timeline.h), and how a region is tiled for it.
#pragma once

#include "region.h"
#include "side_by_side.h"

#include <map>
#include <vector>

namespace tilewright {

// What is lowered whole: a region, convolutions side by side, or a group alone. Others overlap with
// nobody.
struct Part {
  size_t place = 0; // in the program, of its first group
  const ChosenRegion *region = nullptr;
  const ChosenSideBySide *beside = nullptr;
  kernel::GroupOp group; // alone: a convolution or a product

  size_t count() const { // groups
    return region ? region->groups.size() : beside ? beside->groups.size() : 1;
  }
};

struct PartPlan {
  int64_t tileLess = 0;  // fifths by which a region's tile is smaller than alone
  bool joins = false;    // the part before it
  bool isJoined = false; // by the part behind it
  int64_t leads = 0;     // eighths of its first inputs that come while that makes the last ones
};

// Of parts that overlap, by place.
std::map<size_t, PartPlan> planOverlaps(LoweringContext &context,
                                        llvm::ArrayRef<std::optional<Part>> parts);

void lowerPart(LoweringContext &context, const Part &part, const PartPlan &plan, Steps &steps);

} // namespace tilewright
