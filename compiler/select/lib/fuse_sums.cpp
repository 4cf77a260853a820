#include "fuse.h"
#include "scale.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/tensor_types.h"
#include "tilewright/isa/roles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

static bool holdsOnly(Value constant, int64_t value) {
  SplatElementsAttr splat;
  return matchPattern(constant, m_Constant(&splat)) &&
         splat.getSplatValue<APInt>().getSExtValue() == value;
}

// An 8-bit image whose rows, or columns, are added up.
struct Added {
  Value image;
  int64_t zeroPoint;
  int64_t axis;
  Location location; // of the first operation that has a part in it
};

// Sums of windows that cut an image up, of ones at its product.
static kernel::DepthwiseOp windowSums(Operation *op) {
  auto product = dyn_cast_if_present<kernel::DepthwiseOp>(op);
  if (!product)
    return nullptr;
  auto x = shapeOf(product.getX()), y = shapeOf(product.getResult()),
       kernel = shapeOf(product.getWeight());
  const bool isSum = holdsOnly(product.getWeight(), 1) && holdsOnly(product.getBias(), 0) &&
                     product.getWeightZp() == 0 && kernel[3] == 1 && y[1] * kernel[0] == x[1] &&
                     y[2] * kernel[1] == x[2] &&
                     (y[1] == 1 || product.getStride()[0] == kernel[0]) &&
                     (y[2] == 1 || product.getStride()[1] == kernel[1]) &&
                     llvm::all_of(product.getDilation(), [](int64_t each) { return each == 1; }) &&
                     llvm::all_of(product.getPad(), [](int64_t pad) { return pad == 0; });
  return isSum ? product : nullptr;
}

static Added addedBy(kernel::DepthwiseOp sums, int64_t axis) {
  return {sums.getX(), static_cast<int64_t>(sums.getInputZp()), axis, sums.getLoc()};
}

// As a reduction of the widened image or of sums of windows, or as such sums alone, of whole
// columns or of whole rows.
static std::optional<Added> addedBy(Operation *inner) {
  if (auto reduce = dyn_cast_if_present<kernel::ReduceOp>(inner)) {
    if (reduce.getFunction() != kernel::ReduceFunction::Sum)
      return std::nullopt;
    const auto axis = static_cast<int64_t>(reduce.getAxis());
    if (kernel::RescaleOp wide = wideningOf(reduce.getX()))
      return Added{wide.getX(), static_cast<int64_t>(wide.getInputZp()), axis, wide.getLoc()};
    kernel::DepthwiseOp sums = windowSums(reduce.getX().getDefiningOp());
    return sums && sums->hasOneUse() ? std::optional(addedBy(sums, axis)) : std::nullopt;
  }
  kernel::DepthwiseOp sums = windowSums(inner);
  if (!sums)
    return std::nullopt;
  auto windows = shapeOf(sums.getResult());
  return windows[1] == 1   ? std::optional(addedBy(sums, 1))
         : windows[2] == 1 ? std::optional(addedBy(sums, 2))
                           : std::nullopt;
}

// Elements of a channel, at most, that come on chip at once.
static constexpr int64_t mostElements = 1024;

// Whether the sums of parts of an image, of some rows each, find their place in the accumulators;
// as many channels as lanes, and half of either memory.
static bool fitsInParts(llvm::ArrayRef<int64_t> image, const isa::Isa &isa) {
  if (!isa.withRole(isa::Role::SumAcc))
    return false;
  const int64_t spad = static_cast<int64_t>(isa.memory(isa::Space::Spad).bytes),
                acc = static_cast<int64_t>(isa.memory(isa::Space::Acc).bytes),
                lanes = isa.param("lanes"), rows = spad / 4 / (image[2] * lanes);
  return rows > 0 && llvm::divideCeilSigned(image[1], rows) <= acc / 4 / (4 * lanes);
}

void fuseSums(Block &body, const Selection *selection) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto outer = dyn_cast<kernel::ReduceOp>(op);
    Operation *inner = outer ? outer.getX().getDefiningOp() : nullptr;
    std::optional<Added> added = addedBy(inner);
    if (!added || outer.getFunction() != kernel::ReduceFunction::Sum || !inner->hasOneUse())
      continue;
    auto shape = shapeOf(added->image);
    const auto [first, second] = std::minmax({static_cast<int64_t>(outer.getAxis()), added->axis});
    if (shape.size() != 4 || first != 1 || second != 2 ||
        (shape[1] * shape[2] > mostElements &&
         !(selection && fitsInParts(shape, selection->isa()))))
      continue;
    OpBuilder builder(outer);
    Location location =
        FusedLoc::get(op.getContext(), {added->location, inner->getLoc(), outer.getLoc()});
    Value sum = kernel::SumPoolOp::create(
        builder, location, outer.getType(), added->image,
        builder.getDenseI64ArrayAttr({shape[1], shape[2]}), builder.getDenseI64ArrayAttr({1, 1}),
        builder.getDenseI64ArrayAttr({0, 0, 0, 0}), added->zeroPoint);
    outer.replaceAllUsesWith(sum);
    outer.erase();
    inner->erase();
  }
}

} // namespace tilewright
