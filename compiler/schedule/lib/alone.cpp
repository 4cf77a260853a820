#include "alone.h"

#include "trial.h"

namespace tilewright {

static constexpr int64_t alignment = 64;

static int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

void Alone::Places::place(mlir::Value value) {
  mlir::Value memory = kernel::memoryOf(value);
  const auto [known, isNew] = tensors.try_emplace(memory, DramTensor{end});
  const DramTensor tensor = known->second;
  if (isNew)
    end = aligned(end + elementsOf(memory) * bytesOf(memory));
  // What reads a view may ask for the view's own address.
  for (; value != memory; value = value.getDefiningOp()->getOperand(0))
    tensors[value] = tensor;
}

Alone::Places::Places(llvm::ArrayRef<kernel::GroupOp> groups) {
  for (kernel::GroupOp group : groups) {
    group->walk([&](mlir::Operation *op) {
      for (mlir::Value value : op->getOperands()) {
        mlir::Operation *producer = value.getDefiningOp();
        if (producer && producer->getParentOp() == group.getOperation())
          continue;
        if (isConstant(value))
          constantBytes += aligned(elementsOf(value) * bytesOf(value));
        else
          place(value);
      }
    });
    place(group.getResult());
  }
}

Alone::Alone(const LoweringContext &like, llvm::ArrayRef<kernel::GroupOp> groups)
    : places_(groups), constants_(places_.end),
      context_(like.isa, constants_, places_.tensors, like.buffering, like.selection) {}

std::optional<PlanAlone> Alone::emit(llvm::ArrayRef<std::function<void(Steps &)>> lowers) {
  return emitAlone(context_, lowers, [&](Emitter &emitter) {
    // Weights, which a trial leaves out of the pool, stand before the code.
    return PlanAlone{emitter.finish(),
                     static_cast<uint64_t>(aligned(constants_.end() + places_.constantBytes))};
  });
}

} // namespace tilewright
