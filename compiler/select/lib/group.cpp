// Groups of `kernel-fuse`:
//  1. In program order, an element-wise operation joins the group whose last value it reads, when
//  that value has no other reader and the
//     operation keeps its shape; with two such groups, the one that was extended last. Any other
//     operation starts a group. Within a group values are signed: unsigned elements enter and leave
//     through memory.
//  2. Each group moves to the place of its last operation, where all that its operations read is
//  known.
#include "fuse.h"
#include "scale.h"
#include "tilewright/compiler/kernel_dialect.h"
#include "tilewright/compiler/scalar_function.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

using namespace mlir;

namespace tilewright {
namespace {

struct Chain {
  SmallVector<Operation *> ops;
  size_t extended = 0; // position of the last operation in the program
};

bool readsUnsigned(Operation &op) {
  auto rescale = dyn_cast<kernel::RescaleOp>(op);
  return rescale && rescale.getInputUnsigned();
}

// Whether the operation gives elements whose bits, read as signed, are other numbers.
bool givesUnsigned(Operation *op) {
  auto rescale = dyn_cast<kernel::RescaleOp>(op);
  return rescale && !givesSigned(rescale);
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

class Chains {
public:
  void add(Operation &op) {
    Chain *chain = isElementwise(op) && !readsUnsigned(op) ? continuedBy(op) : nullptr;
    if (!chain) {
      chain = &chains_.emplace_back();
    } else {
      byLast_.erase(chain->ops.back());
    }
    chain->ops.push_back(&op);
    chain->extended = position_++;
    byLast_[&op] = static_cast<size_t>(chain - chains_.data());
  }

  const std::vector<Chain> &all() const { return chains_; }

private:
  Chain *continuedBy(Operation &op) {
    Chain *best = nullptr;
    for (Value operand : op.getOperands()) {
      auto found = byLast_.find(operand.getDefiningOp());
      if (found == byLast_.end() || givesUnsigned(found->first) || !hasOneReader(operand) ||
          shapeOf(operand) != shapeOf(op.getResult(0)))
        continue;
      Chain *chain = &chains_[found->second];
      if (!best || chain->extended > best->extended)
        best = chain;
    }
    return best;
  }

  std::vector<Chain> chains_;
  llvm::DenseMap<Operation *, size_t> byLast_;
  size_t position_ = 0;
};

void formGroup(const Chain &chain) {
  Operation *last = chain.ops.back();
  Value result = last->getResult(0);
  SmallVector<Location> locations(
      llvm::map_range(chain.ops, [](Operation *op) { return op->getLoc(); }));
  Location location = FusedLoc::get(last->getContext(), locations);
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  auto group = kernel::GroupOp::create(builder, location, result.getType());
  Block *body = builder.createBlock(&group.getBody());
  for (Operation *op : chain.ops)
    op->moveBefore(body, body->end());
  result.replaceAllUsesWith(group.getResult());
  kernel::YieldOp::create(builder, location, result);
}

} // namespace

bool isElementwise(Operation &op) { return hasScalarFunction(&op); }

bool hasOneReader(Value value) { return !value.use_empty() && llvm::all_equal(value.getUsers()); }

void formGroups(Block &body) {
  Chains chains;
  for (Operation &op : body)
    if (!llvm::isa<kernel::ViewOp, kernel::StridedViewOp, kernel::GroupOp, tosa::ConstOp,
                   func::ReturnOp>(op))
      chains.add(op);
  for (const Chain &chain : chains.all())
    formGroup(chain);
}

} // namespace tilewright
