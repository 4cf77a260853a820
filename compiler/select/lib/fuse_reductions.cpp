// A reduction and the element-wise operations before it, where one instruction computes them
// together, become one group.
#include "fuse.h"

#include "tilewright/compiler/selection.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

static constexpr size_t longestRun = 4;

// Operations before the reduction, each the only reader of the one before it and of its shape.
static SmallVector<Operation *> runBefore(kernel::ReduceOp reduce) {
  SmallVector<Operation *> run;
  auto shape = [](Value value) { return cast<ShapedType>(value.getType()).getShape(); };
  Value value = reduce.getX();
  for (Operation *op = value.getDefiningOp();
       op && run.size() < longestRun && hasScalarFunction(op) && hasOneReader(op->getResult(0));) {
    run.insert(run.begin(), op);
    Operation *before = nullptr;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && hasScalarFunction(producer) && shape(operand) == shape(reduce.getX()))
        before = producer;
    op = before;
  }
  return run;
}

void fuseReductions(Block &body, Selection &selection) {
  SmallVector<kernel::ReduceOp> reductions(body.getOps<kernel::ReduceOp>());
  for (kernel::ReduceOp reduce : reductions) {
    SmallVector<Operation *> run = runBefore(reduce);
    while (!run.empty() && !selection.choose(run, reduce))
      run.erase(run.begin()); // the largest cover that there is
    if (run.empty())
      continue;
    run.push_back(reduce);
    SmallVector<Location> locations(
        llvm::map_range(run, [](Operation *op) { return op->getLoc(); }));
    OpBuilder builder(reduce);
    Location location = FusedLoc::get(reduce.getContext(), locations);
    auto group = kernel::GroupOp::create(builder, location, reduce.getType());
    reduce.replaceAllUsesWith(group.getResult());
    Block *inside = builder.createBlock(&group.getBody());
    for (Operation *op : run)
      op->moveBefore(inside, inside->end());
    kernel::YieldOp::create(builder, location, reduce.getResult());
  }
}

} // namespace tilewright
