// Operations that no instruction computes, in terms of others that some instruction computes.
#include "constants.h"
#include "fuse.h"

#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/select/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr int mostRounds = 4; // an alternative may itself need one

class Rewriter {
public:
  Rewriter(Operation *op) : op_(op), builder_(op) {}

  Value binary(StringRef function, Value a, Value b) {
    SmallVector<int64_t> shape; // of the two, of which one may be repeated
    for (auto [left, right] : llvm::zip_equal(shapeOf(a), shapeOf(b)))
      shape.push_back(std::max(left, right));
    auto type = RankedTensorType::get(shape, builder_.getI32Type());
    return kernel::BinaryOp::create(builder_, op_->getLoc(), type, a, b, function, 0);
  }
  Value constant(int64_t value) {
    auto type = RankedTensorType::get(SmallVector<int64_t>(resultType().getRank(), 1),
                                      builder_.getI32Type());
    return createConstant(builder_, op_->getLoc(), type, value);
  }
  // -1 - x: each order of integers turned round, none of them lost.
  Value inverted(Value x) { return binary("sub", constant(-1), x); }
  Value reduce(StringRef function, Value x, uint64_t axis) {
    return kernel::ReduceOp::create(builder_, op_->getLoc(), resultType(), x, function, axis);
  }

private:
  RankedTensorType resultType() { return cast<RankedTensorType>(op_->getResult(0).getType()); }

  Operation *op_;
  OpBuilder builder_;
};

bool isWide(Value value) {
  return cast<ShapedType>(value.getType()).getElementType().isInteger(32);
}

// The same values by other operations; null: there is no other way.
Value alternative(Operation *op) {
  Rewriter write(op);
  if (auto unary = dyn_cast<kernel::UnaryOp>(op)) {
    if (unary.getFunction() != "abs")
      return nullptr;
    return write.binary("max", unary.getX(), write.binary("sub", write.constant(0), unary.getX()));
  }
  if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
    const bool isMin = reduce.getFunction() == "min";
    if ((!isMin && reduce.getFunction() != "max") || !isWide(reduce.getX()))
      return nullptr;
    return write.inverted(
        write.reduce(isMin ? "max" : "min", write.inverted(reduce.getX()), reduce.getAxis()));
  }
  auto binary = dyn_cast<kernel::BinaryOp>(op);
  if (!binary || !isWide(binary.getA()) || !isWide(binary.getB()))
    return nullptr;
  Value a = binary.getA(), b = binary.getB();
  const StringRef function = binary.getFunction();
  auto zero = [&] { return write.constant(0); };
  if (function == "sub")
    return write.binary("add", a, write.binary("mul", b, write.constant(-1)));
  if (function == "add")
    return write.binary("sub", a, write.binary("sub", zero(), b));
  if (function == "min" || function == "max")
    return write.inverted(
        write.binary(function == "min" ? "max" : "min", write.inverted(a), write.inverted(b)));
  if (function == "shl") {
    auto amounts = constantIntegers(b);
    if (!amounts || amounts->size() != 1)
      return nullptr;
    const int64_t amount = std::clamp<int64_t>(amounts->front(), 0, 31);
    return write.binary("mul", a, write.constant(static_cast<int32_t>(uint32_t(1) << amount)));
  }
  return nullptr;
}

// Erases `value`'s operations from the last to the first that nothing reads.
void eraseUnread(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->use_empty() || !isMemoryEffectFree(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *before = operand.getDefiningOp();
        before && before->use_empty() &&
        llvm::isa<kernel::BinaryOp, kernel::ReduceOp, tosa::ConstOp>(before))
      eraseUnread(operand);
}

// Whether everything made for `value` since `before` is computed, or can be in so many rounds.
bool isServed(Selection &selection, Value value, Operation *stop, int rounds);

bool isServed(Selection &selection, Operation *op, int rounds) {
  if (selection.computes(op))
    return true;
  if (rounds == 0)
    return false;
  Operation *stop = op->getPrevNode();
  Value other = alternative(op);
  if (!other)
    return false;
  const bool served = isServed(selection, other, stop, rounds - 1);
  eraseUnread(other);
  return served;
}

bool isServed(Selection &selection, Value value, Operation *stop, int rounds) {
  for (Operation *op = value.getDefiningOp(); op && op != stop; op = op->getPrevNode())
    if (!llvm::isa<tosa::ConstOp>(op) && !isServed(selection, op, rounds))
      return false;
  return true;
}

} // namespace

void legalize(Block &body, Selection &selection) {
  for (int round = 0; round < mostRounds; ++round) {
    SmallVector<Operation *> operations;
    for (Operation &op : body)
      if (llvm::isa<kernel::UnaryOp, kernel::BinaryOp, kernel::ReduceOp>(op) &&
          !selection.computes(&op))
        operations.push_back(&op);
    for (Operation *op : operations) {
      // What no other way serves stays: a larger cover may, or the scheduler says by name that
      // nothing does.
      if (!isServed(selection, op, mostRounds))
        continue;
      Value other = alternative(op);
      op->getResult(0).replaceAllUsesWith(other);
      op->erase();
    }
    if (operations.empty())
      return;
  }
}

} // namespace tilewright
