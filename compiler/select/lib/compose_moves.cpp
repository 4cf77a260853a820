// A move of what another move has made reads what that one read: a slice and its transpose, for
// instance, are one move. Neighbors of one source that stay side by side are one region; what
// several make together, and one move takes as a run, those regions make in its place.
#include "fuse.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"

#include "mlir/IR/Builders.h"

#include <optional>

using namespace mlir;

namespace tilewright {
namespace {

// The only region of a move that makes all of its result; nothing of others.
std::optional<kernel::Region> onlyRegion(kernel::AssembleOp op) {
  if (op.getFill() || op.getRegions().size() != 1)
    return std::nullopt;
  return kernel::coalesce(*kernel::decode(op.getRegions()[0]));
}

// `next` behind `region`, as one; nothing where they do not lie side by side in both tensors.
std::optional<kernel::Region> joined(const kernel::Region &region, const kernel::Region &next) {
  const bool isAlike = region.source == next.source && !region.sizes.empty() &&
                       region.sourceStrides == next.sourceStrides &&
                       region.resultStrides == next.resultStrides &&
                       ArrayRef(region.sizes).drop_back() == ArrayRef(next.sizes).drop_back();
  if (!isAlike || region.sourceStrides.back() != 1 || region.resultStrides.back() != 1 ||
      region.sourceOffset + region.sizes.back() != next.sourceOffset ||
      region.resultOffset + region.sizes.back() != next.resultOffset)
    return std::nullopt;
  kernel::Region both = region;
  both.sizes.back() += next.sizes.back();
  return both;
}

// Whether a region takes all of its source as one run, and nothing else reads that.
bool takesWhole(const kernel::Region &region, Value source) {
  const kernel::Region run = kernel::coalesce(region);
  Value memory = kernel::memoryOf(source);
  for (Value value = source;; value = value.getDefiningOp()->getOperand(0)) {
    if (!value.hasOneUse())
      return false;
    if (value == memory)
      break;
  }
  return run.sourceOffset == 0 && run.sizes.size() == 1 && run.sourceStrides.back() == 1 &&
         run.resultStrides.back() == 1 &&
         run.sizes.back() == cast<ShapedType>(memory.getType()).getNumElements();
}

} // namespace

void composeMoves(Block &body) {
  for (Operation &each : llvm::make_early_inc_range(body)) {
    auto op = dyn_cast<kernel::AssembleOp>(each);
    if (!op)
      continue;
    SmallVector<Value> sources;
    SmallVector<kernel::Region> regions;
    bool isComposed = false;
    auto add = [&](kernel::Region region, Value source) {
      auto *known = llvm::find(sources, source);
      region.source = known - sources.begin();
      if (known == sources.end())
        sources.push_back(source);
      region = kernel::coalesce(region);
      const std::optional<kernel::Region> both =
          regions.empty() ? std::nullopt : joined(regions.back(), region);
      isComposed |= both.has_value();
      if (both)
        regions.back() = *both;
      else
        regions.push_back(region);
    };
    for (Attribute attribute : op.getRegions()) {
      kernel::Region region = *kernel::decode(attribute);
      Value source = op.getSources()[static_cast<unsigned>(region.source)];
      auto before = kernel::memoryOf(source).getDefiningOp<kernel::AssembleOp>();
      if (before && !before.getFill() && before.getRegions().size() > 1 &&
          takesWhole(region, source)) {
        for (Attribute part : before.getRegions()) {
          kernel::Region own = *kernel::decode(part);
          own.resultOffset += region.resultOffset;
          add(own, before.getSources()[static_cast<unsigned>(own.source)]);
        }
        isComposed = true;
        continue;
      }
      const std::optional<kernel::Region> first = before ? onlyRegion(before) : std::nullopt;
      FailureOr<kernel::Region> whole = failure();
      if (first)
        whole = kernel::compose(*first, region);
      if (succeeded(whole)) {
        source = before.getSources()[0];
        region = *whole;
        isComposed = true;
      }
      add(region, source);
    }
    if (!isComposed)
      continue;
    OpBuilder builder(op);
    SmallVector<Attribute> encoded;
    for (const kernel::Region &region : regions)
      encoded.push_back(kernel::encode(op.getContext(), region));
    auto made = kernel::AssembleOp::create(builder, op.getLoc(), op.getResult().getType(), sources,
                                           op.getFillAttr(), builder.getArrayAttr(encoded));
    op.getResult().replaceAllUsesWith(made.getResult());
    op.erase();
  }
}

} // namespace tilewright
