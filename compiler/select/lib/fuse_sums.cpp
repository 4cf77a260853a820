#include "fuse.h"
#include "scale.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

static unsigned bitsOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementTypeBitWidth();
}

// The rescale that gives x - input_zp of 8-bit elements in 32 bits, if the value is one.
static kernel::RescaleOp widening(Value value) {
  auto rescale = value.getDefiningOp<kernel::RescaleOp>();
  if (!rescale || bitsOf(rescale.getX()) != 8 || bitsOf(rescale.getResult()) != 32 ||
      rescale.getInputUnsigned() || rescale.getOutputZp() != 0 || !keepsRange(rescale))
    return nullptr;
  std::optional<Scale> scale = scalarScale(rescale);
  return scale && scale->isIdentity() ? rescale : nullptr;
}

// Elements of a channel, at most: they come on chip at once.
static constexpr int64_t mostElements = 1024;

void fuseSums(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto outer = dyn_cast<kernel::ReduceOp>(op);
    auto inner = outer ? outer.getX().getDefiningOp<kernel::ReduceOp>() : nullptr;
    if (!inner || outer.getFunction() != "sum" || inner.getFunction() != "sum" ||
        !inner->hasOneUse())
      continue;
    auto shape = cast<RankedTensorType>(inner.getX().getType()).getShape();
    const auto [first, second] = std::minmax({outer.getAxis(), inner.getAxis()});
    kernel::RescaleOp wide = widening(inner.getX());
    if (!wide || shape.size() != 4 || first != 1 || second != 2 ||
        shape[1] * shape[2] > mostElements)
      continue;
    OpBuilder builder(outer);
    Location location =
        FusedLoc::get(op.getContext(), {wide.getLoc(), inner.getLoc(), outer.getLoc()});
    Value sum = kernel::SumPoolOp::create(
        builder, location, outer.getType(), wide.getX(),
        builder.getDenseI64ArrayAttr({shape[1], shape[2]}), builder.getDenseI64ArrayAttr({1, 1}),
        builder.getDenseI64ArrayAttr({0, 0, 0, 0}), wide.getInputZp());
    outer.replaceAllUsesWith(sum);
    outer.erase();
    inner.erase();
  }
}

} // namespace tilewright
