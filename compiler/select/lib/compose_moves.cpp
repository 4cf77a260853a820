// A move of what another move has made reads what that one read: a slice and its transpose, for
// instance, are one move.
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

} // namespace

void composeMoves(Block &body) {
  for (Operation &each : llvm::make_early_inc_range(body)) {
    auto op = dyn_cast<kernel::AssembleOp>(each);
    if (!op)
      continue;
    SmallVector<Value> sources;
    SmallVector<Attribute> regions;
    bool isComposed = false;
    for (Attribute attribute : op.getRegions()) {
      kernel::Region region = *kernel::decode(attribute);
      Value source = op.getSources()[static_cast<unsigned>(region.source)];
      auto before = kernel::memoryOf(source).getDefiningOp<kernel::AssembleOp>();
      const std::optional<kernel::Region> first = before ? onlyRegion(before) : std::nullopt;
      FailureOr<kernel::Region> both = failure();
      if (first)
        both = kernel::compose(*first, region);
      if (succeeded(both)) {
        source = before.getSources()[0];
        region = *both;
        isComposed = true;
      }
      auto *known = llvm::find(sources, source);
      region.source = known - sources.begin();
      if (known == sources.end())
        sources.push_back(source);
      regions.push_back(kernel::encode(op.getContext(), region));
    }
    if (!isComposed)
      continue;
    OpBuilder builder(op);
    auto made = kernel::AssembleOp::create(builder, op.getLoc(), op.getResult().getType(), sources,
                                           op.getFillAttr(), builder.getArrayAttr(regions));
    op.getResult().replaceAllUsesWith(made.getResult());
    op.erase();
  }
}

} // namespace tilewright
