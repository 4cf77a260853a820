#include "fuse.h"
#include "scale.h"
#include "tilewright/compiler/tosa/fixed_point.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {

// clamp(x, lo, hi) and nothing else, on signed elements.
static bool onlyClamps(kernel::RescaleOp op) {
  std::optional<FixedPoint> scale = constantFixedPoint(op.getMultiplier(), op.getShift());
  return scale && scale->isIdentity() && op.getInputZp() == 0 && op.getOutputZp() == 0 &&
         !op.getInputUnsigned() && elementOf(op.getX()) == elementOf(op.getResult());
}

void foldClamps(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto clamp = dyn_cast<kernel::RescaleOp>(op);
    if (!clamp || !onlyClamps(clamp))
      continue;
    auto before = clamp.getX().getDefiningOp<kernel::RescaleOp>();
    if (!before || !before->hasOneUse() || !givesSigned(before))
      continue;
    // Clamping twice is clamping once to the first range's ends, each clamped to the second range.
    before.setLo(std::clamp<int64_t>(before.getLo(), clamp.getLo(), clamp.getHi()));
    before.setHi(std::clamp<int64_t>(before.getHi(), clamp.getLo(), clamp.getHi()));
    before->setLoc(FusedLoc::get(op.getContext(), {before.getLoc(), clamp.getLoc()}));
    clamp.replaceAllUsesWith(before.getResult());
    clamp.erase();
  }
}

} // namespace tilewright
