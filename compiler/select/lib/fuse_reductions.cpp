// A reduction and the element-wise operations before it, where one instruction computes them
// together, become one group.
#include "fuse.h"
#include "selection_runs.h"

#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {

static constexpr size_t mostBefore = 2 * longestRun; // of which a tree is taken

// Operations before the reduction in program order, of its shape, each read by one of them, or by
// the reduction, alone.
static SmallVector<Operation *> runBefore(kernel::ReduceOp reduce) {
  SmallVector<Operation *> run, left = {reduce};
  while (!left.empty() && run.size() < mostBefore) {
    SmallVector<Operation *> before;
    for (Operation *op : left)
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && hasScalarFunction(producer) && hasOneReader(operand) &&
            shapeOf(operand) == shapeOf(reduce.getX()) && !llvm::is_contained(before, producer))
          before.push_back(producer);
    run.append(before);
    left = std::move(before);
  }
  llvm::sort(run, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return run;
}

// What `whole` moves through DRAM for each element, when what its other operations give to `run` is
// stored and loaded.
static int64_t bytesMoved(ArrayRef<Operation *> run, ArrayRef<Operation *> whole) {
  llvm::SmallSetVector<Value, 8> inputs, made;
  for (Operation *op : whole)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (shapeOf(operand) != shapeOf(op->getResult(0)))
        continue; // repeated: little
      if (!llvm::is_contained(whole, producer))
        inputs.insert(operand);
      else if (llvm::is_contained(run, op) && !llvm::is_contained(run, producer))
        made.insert(operand);
    }
  int64_t bytes = 0;
  for (Value value : inputs)
    bytes += bytesOf(value);
  for (Value value : made)
    bytes += int64_t{2} * bytesOf(value);
  return bytes;
}

void fuseReductions(Block &body, Selection &selection) {
  SmallVector<kernel::ReduceOp> reductions(body.getOps<kernel::ReduceOp>());
  for (kernel::ReduceOp reduce : reductions) {
    const SmallVector<Operation *> whole = runBefore(reduce);
    if (whole.empty())
      continue;
    const auto runs = runsEndingAt(whole, whole.size() - 1);
    const auto found = llvm::find_if(runs, [&](const auto &each) {
      return selection.choose(each, reduce).has_value(); // the largest cover that there is
    });
    SmallVector<Operation *> run;
    if (found != runs.end())
      run = *found;
    if (run.empty() ||
        bytesMoved(run, whole) > bytesMoved({}, whole) + int64_t{2} * bytesOf(reduce.getX()))
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
