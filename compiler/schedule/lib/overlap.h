// Which neighbors of a program overlap (timeline.h), and how each is cut for it: a product that
// begins with its first rows finds them sooner, and hands them on sooner.
#pragma once

#include "region.h"
#include "side_by_side.h"

#include <vector>

namespace tilewright {

// What is lowered whole: a region, convolutions side by side, or a group alone. Others overlap with
// nobody.
struct Part {
  size_t place = 0; // in the program, of its first group
  const ChosenRegion *region = nullptr;
  const ChosenSideBySide *beside = nullptr;
  kernel::GroupOp group; // alone

  size_t count() const { // groups
    return region ? region->groups.size() : beside ? beside->groups.size() : 1;
  }
};

struct PartPlan {
  int64_t rowParts = 1; // into which a product alone cuts its rows; 1: as its plan has it
  int64_t tileLess = 0; // fifths by which a region's tile is smaller
  bool joins = false;   // the part before it

  friend bool operator==(const PartPlan &a, const PartPlan &b) {
    return a.rowParts == b.rowParts && a.tileLess == b.tileLess && a.joins == b.joins;
  }
};

// By part; null parts stand for what overlaps with nobody. `isApart`: parts that may join nobody.
std::vector<PartPlan> planOverlaps(LoweringContext &context,
                                   llvm::ArrayRef<std::optional<Part>> parts,
                                   llvm::function_ref<bool(const Part &)> isApart);

// False where it cannot be cut so. `isTrial`: constants need not be there.
bool lowerPart(LoweringContext &context, const Part &part, const PartPlan &plan, bool isTrial,
               Steps &steps);

} // namespace tilewright
