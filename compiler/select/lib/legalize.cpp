// Operations that no instruction computes, in terms of others that some instruction computes.
#include "fuse.h"

#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr int mostRounds = 4; // an alternative may itself need one

bool isWide(Value value) {
  return cast<ShapedType>(value.getType()).getElementType().isInteger(32);
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
        llvm::isa<kernel::BinaryOp, kernel::UnaryOp, kernel::ReduceOp, tosa::ConstOp>(before))
      eraseUnread(operand);
}

// Writes an operation's equivalent form (FunctionInfo::equivalent) before it, from left to right.
class EquivalentForm {
public:
  EquivalentForm(Operation *op, StringRef text) : op_(op), rest_(text), builder_(op) {}

  // Null: a part of it is not known. The text is the table's own, and a test reads all of it.
  Value write() {
    const StringRef word =
        rest_.take_while([](char c) { return c != '(' && c != ',' && c != ')'; });
    rest_ = rest_.drop_front(word.size());
    if (!rest_.consume_front("("))
      return operand(word);
    SmallVector<Value> arguments;
    do {
      Value argument = write();
      if (!argument) {
        llvm::for_each(arguments, eraseUnread);
        return nullptr;
      }
      arguments.push_back(argument);
    } while (rest_.consume_front(", "));
    rest_ = rest_.drop_front(); // the parenthesis
    return word == "pow2" ? powerOfTwo(arguments[0]) : call(word, arguments);
  }

private:
  RankedTensorType resultType() { return cast<RankedTensorType>(op_->getResult(0).getType()); }

  Value operand(StringRef word) {
    int64_t value = 0;
    if (word.getAsInteger(10, value))
      return op_->getOperand(word == "a" ? 0 : 1);
    return constant(value);
  }

  Value constant(int64_t value) {
    auto type = RankedTensorType::get(SmallVector<int64_t>(resultType().getRank(), 1),
                                      builder_.getI32Type());
    return makeConstant(builder_, op_->getLoc(), integerElements(type, value));
  }

  Value powerOfTwo(Value exponent) {
    auto amounts = constantIntegers(exponent);
    if (!amounts || amounts->size() != 1)
      return nullptr;
    const int64_t amount = std::clamp<int64_t>(amounts->front(), 0, 31);
    return constant(static_cast<int32_t>(uint32_t(1) << amount));
  }

  // A function of one argument is a reduction in the form of a reduction, which keeps its axis.
  Value call(StringRef name, ArrayRef<Value> arguments) {
    if (arguments.size() == 2) {
      SmallVector<int64_t> shape; // of the two, of which one may be repeated
      for (auto [left, right] : llvm::zip_equal(shapeOf(arguments[0]), shapeOf(arguments[1])))
        shape.push_back(std::max(left, right));
      auto type = RankedTensorType::get(shape, builder_.getI32Type());
      return kernel::BinaryOp::create(builder_, op_->getLoc(), type, arguments[0], arguments[1],
                                      *kernel::functionNamed<kernel::BinaryFunction>(name), 0);
    }
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op_))
      return kernel::ReduceOp::create(builder_, op_->getLoc(), resultType(), arguments[0],
                                      *kernel::functionNamed<kernel::ReduceFunction>(name),
                                      reduce.getAxis());
    return kernel::UnaryOp::create(builder_, op_->getLoc(), arguments[0].getType(), arguments[0],
                                   *kernel::functionNamed<kernel::UnaryFunction>(name));
  }

  Operation *op_;
  StringRef rest_;
  OpBuilder builder_;
};

// The same values by other operations; null: there is no other form.
Value alternative(Operation *op) {
  const StringRef form = llvm::TypeSwitch<Operation *, StringRef>(op)
                             .Case<kernel::BinaryOp, kernel::UnaryOp, kernel::ReduceOp>(
                                 [](auto o) { return kernel::infoOf(o.getFunction()).equivalent; })
                             .Default([](Operation *) { return StringRef(); });
  if (form.empty() || !llvm::all_of(op->getOperands(), isWide))
    return nullptr;
  return EquivalentForm(op, form).write();
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
