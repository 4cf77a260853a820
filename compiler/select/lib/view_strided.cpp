// Moves that need not happen: an image that is a strided box of another tensor, read by nothing but
// convolutions and pools. They load tiles by strides anyway.
#include "fuse.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"

#include <optional>

using namespace mlir;

namespace tilewright {
namespace {

// Elements that are scattered in memory come one a cycle; an image of more channels than this is
// better transposed once than at each load of a tile.
constexpr int64_t fewChannels = 16;

// The box as strides of the result's dimensions; nothing when it is no image of another tensor.
std::optional<kernel::Region> wholeBox(kernel::AssembleOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (op.getFill() || op.getRegions().size() != 1 || type.getRank() != 4 ||
      type.getElementTypeBitWidth() != 8)
    return std::nullopt;
  FailureOr<kernel::Region> box = kernel::decode(op.getRegions()[0]);
  if (failed(box) || box->resultOffset != 0)
    return std::nullopt;
  kernel::Region image;
  image.source = box->source;
  image.sourceOffset = box->sourceOffset;
  for (auto [size, stride] :
       llvm::zip_equal(type.getShape(), kernel::denseStrides(type.getShape()))) {
    int64_t source = 0;
    bool found = size == 1;
    // A dimension of the box may stand for several neighbors of the image.
    for (size_t i = 0; i < box->sizes.size() && !found; ++i) {
      int64_t step = box->resultStrides[i];
      found = step > 0 && stride % step == 0 && stride * size <= step * box->sizes[i];
      if (found)
        source = box->sourceStrides[i] * (stride / step);
    }
    if (!found)
      return std::nullopt;
    image.sourceStrides.push_back(source);
  }
  return image;
}

bool isWorthIt(kernel::AssembleOp op, const kernel::Region &image) {
  int64_t channels = cast<RankedTensorType>(op.getResult().getType()).getShape()[3];
  bool scattered = channels > 1 && image.sourceStrides[3] != 1;
  for (OpOperand &use : op.getResult().getUses()) {
    if (!llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::AvgPoolOp,
                   kernel::SumPoolOp>(use.getOwner()) ||
        use.getOperandNumber() != 0)
      return false;
    if (scattered && (channels > fewChannels || !op.getResult().hasOneUse() ||
                      !llvm::isa<kernel::Conv2DOp>(use.getOwner())))
      return false;
  }
  return !op.getResult().use_empty();
}

} // namespace

void viewStrided(Block &body) {
  for (Operation &each : llvm::make_early_inc_range(body)) {
    auto op = dyn_cast<kernel::AssembleOp>(each);
    std::optional<kernel::Region> image = op ? wholeBox(op) : std::nullopt;
    if (!image || !isWorthIt(op, *image))
      continue;
    OpBuilder builder(op);
    Value source = op.getSources()[static_cast<unsigned>(image->source)];
    if (kernel::memoryOf(source).getDefiningOp<tosa::ConstOp>())
      continue;
    auto view = kernel::StridedViewOp::create(builder, op.getLoc(), op.getResult().getType(),
                                              source, image->sourceOffset, image->sourceStrides);
    op.getResult().replaceAllUsesWith(view.getResult());
    op.erase();
  }
}

} // namespace tilewright
