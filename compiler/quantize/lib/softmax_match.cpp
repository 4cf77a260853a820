#include "softmax_match.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

namespace tilewright::quantization {

// In the form of any importer: the maximum is subtracted first.
bool isReadBySoftmax(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<tosa::ReshapeOp>(user))
      return isReadBySoftmax(user->getResult(0));
    auto difference = dyn_cast<tosa::SubOp>(user);
    return isa<tosa::ReduceMaxOp>(user) ||
           (difference && difference.getInput2().getDefiningOp<tosa::ReduceMaxOp>());
  });
}

bool isMask(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::TileOp>(user))
      return isMask(user->getResult(0));
    return isa<tosa::AddOp>(user) && isReadBySoftmax(user->getResult(0));
  });
}

std::optional<Softmax> matchSoftmax(Operation *last) {
  auto product = dyn_cast<tosa::MulOp>(last);
  if (!product)
    return std::nullopt;
  for (int side : {0, 1}) {
    auto power = product->getOperand(side).getDefiningOp<tosa::ExpOp>();
    auto inverse = product->getOperand(1 - side).getDefiningOp<tosa::ReciprocalOp>();
    if (!power || !inverse)
      continue;
    auto sum = inverse.getInput1().getDefiningOp<tosa::ReduceSumOp>();
    auto difference = power.getInput1().getDefiningOp<tosa::SubOp>();
    if (!sum || !difference || sum.getInput() != power.getOutput())
      continue;
    auto maximum = difference.getInput2().getDefiningOp<tosa::ReduceMaxOp>();
    if (!maximum || maximum.getInput() != difference.getInput1() ||
        maximum.getAxis() != sum.getAxis())
      continue;
    // Nobody else may read the values between.
    bool isPrivate = power.getOutput().hasNUses(2) && inverse->hasOneUse() && sum->hasOneUse() &&
                     difference->hasOneUse() && maximum->hasOneUse();
    if (isPrivate)
      return Softmax{difference.getInput1(),
                     static_cast<int64_t>(sum.getAxis()),
                     {maximum, difference, power, sum, inverse}};
  }
  return std::nullopt;
}

} // namespace tilewright::quantization
