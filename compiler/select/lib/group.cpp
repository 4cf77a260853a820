// Groups of `kernel-fuse`:
//  1. In program order, an element-wise operation joins the group whose last value it reads, when
//  that value has no other reader and the operation keeps its shape; with two such groups, both
//  become one, that with an anchor first. Any other operation starts a group. Within a group values
//  are signed: unsigned elements enter and leave through memory.
//  2. Each group moves to the place of its last operation, where all that its operations read is
//  known.
//  3. A small operand made of arguments and constants alone comes first: groups between which it
//  stood may become one region.
#include "fuse.h"
#include "scale.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/scalar_function.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>
#include <utility>
#include <vector>

using namespace mlir;

namespace tilewright {
namespace {

struct Sequence {
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

class Sequences {
public:
  explicit Sequences(Selection *selection) : selection_(selection) {}

  void add(Operation &op) {
    SmallVector<size_t, 2> continued;
    if (isElementwise(op) && !readsUnsigned(op))
      continued = continuedBy(op);
    if (continued.size() > 1 && !mayBeOne(continued, op))
      continued.resize(1);
    if (continued.empty()) {
      continued.push_back(sequences_.size());
      sequences_.emplace_back();
    }
    Sequence &sequence = sequences_[continued[0]];
    for (size_t other : continued) {
      if (!sequences_[other].ops.empty())
        byLast_.erase(sequences_[other].ops.back());
      if (other != continued[0])
        sequence.ops.append(std::exchange(sequences_[other].ops, {}));
    }
    sequence.ops.push_back(&op);
    sequence.extended = position_++;
    byLast_[&op] = continued[0];
  }

  const std::vector<Sequence> &all() const { return sequences_; }

private:
  // An operation that is not element-wise, or reads memory in another way, can only come first.
  bool mustBegin(size_t sequence) const {
    Operation &first = *sequences_[sequence].ops.front();
    return !isElementwise(first) || readsUnsigned(first);
  }

  // Of two sequences: whether what both give may stand in accumulators, and instructions compute
  // all.
  bool mayBeOne(ArrayRef<size_t> both, Operation &op) const {
    SmallVector<Operation *> operations;
    for (size_t sequence : both) {
      const SmallVector<Operation *> &ops = sequences_[sequence].ops;
      if (widthOf(ops.back()->getResult(0)) <= 8)
        return false;
      operations.append(ops);
    }
    operations.push_back(&op);
    Operation *anchor = isElementwise(*operations.front()) ? nullptr : operations.front();
    if (llvm::isa_and_nonnull<kernel::MaxPoolOp>(anchor))
      return false; // its template has no accumulators to spare
    if (anchor)
      operations.erase(operations.begin());
    return !selection_ || selection_->choose(anchor, operations, biasOf(anchor));
  }

  // The first one goes on, and takes in the other one.
  SmallVector<size_t, 2> continuedBy(Operation &op) const {
    SmallVector<size_t, 2> found;
    for (Value operand : op.getOperands()) {
      auto known = byLast_.find(operand.getDefiningOp());
      if (known == byLast_.end() || givesUnsigned(known->first) || !hasOneReader(operand) ||
          shapeOf(operand) != shapeOf(op.getResult(0)) || llvm::is_contained(found, known->second))
        continue;
      found.push_back(known->second);
    }
    llvm::sort(found, [&](size_t a, size_t b) {
      return std::pair(mustBegin(a), sequences_[a].extended) >
             std::pair(mustBegin(b), sequences_[b].extended);
    });
    if (found.size() > 1 && mustBegin(found[1]))
      found.resize(1);
    return found;
  }

  Selection *selection_;
  std::vector<Sequence> sequences_;
  llvm::DenseMap<Operation *, size_t> byLast_;
  size_t position_ = 0;
};

void formGroup(const Sequence &sequence) {
  Operation *last = sequence.ops.back();
  Value result = last->getResult(0);
  SmallVector<Location> locations(
      llvm::map_range(sequence.ops, [](Operation *op) { return op->getLoc(); }));
  Location location = FusedLoc::get(last->getContext(), locations);
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  auto group = kernel::GroupOp::create(builder, location, result.getType());
  Block *body = builder.createBlock(&group.getBody());
  for (Operation *op : sequence.ops)
    op->moveBefore(body, body->end());
  result.replaceAllUsesWith(group.getResult());
  kernel::YieldOp::create(builder, location, result);
}

// Whether all that reads the value is much larger.
bool isSmallOperand(Value value) {
  constexpr int64_t times = 8;
  const int64_t elements = cast<RankedTensorType>(value.getType()).getNumElements();
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (llvm::isa<func::ReturnOp>(user))
      return false;
    if (llvm::isa<kernel::ViewOp>(user))
      return isSmallOperand(user->getResult(0));
    auto type = dyn_cast<RankedTensorType>(user->getResult(0).getType());
    return type && type.getNumElements() >= times * elements;
  });
}

// What a group reads from outside, and what that is a view of, each before what reads it; nothing
// where some of it is made on the way.
std::optional<llvm::SetVector<Operation *>> knownOperands(kernel::GroupOp group) {
  llvm::SetVector<Operation *> needed;
  for (Operation &op : group.getBody().front())
    for (Value operand : op.getOperands()) {
      SmallVector<Operation *> way;
      while (Operation *made = operand.getDefiningOp()) {
        if (made->getParentOp() == group.getOperation())
          break;
        if (!llvm::isa<kernel::ViewOp, tosa::ConstOp>(made))
          return std::nullopt;
        way.push_back(made);
        if (llvm::isa<tosa::ConstOp>(made))
          break;
        operand = made->getOperand(0);
      }
      needed.insert(way.rbegin(), way.rend());
    }
  return needed;
}

void moveSmallOperandsUp(Block &body) {
  llvm::SmallPtrSet<Operation *, 16> moved;
  Block::iterator place = body.begin();
  auto moveUp = [&](Operation *op) {
    if (!moved.insert(op).second)
      return;
    if (op == &*place)
      ++place;
    else
      op->moveBefore(&body, place);
  };
  const SmallVector<kernel::GroupOp> groups(body.getOps<kernel::GroupOp>());
  for (kernel::GroupOp group : groups) {
    if (!isSmallOperand(group.getResult()) ||
        !llvm::all_of(group.getBody().front().without_terminator(), isElementwise))
      continue;
    if (const std::optional<llvm::SetVector<Operation *>> needed = knownOperands(group)) {
      llvm::for_each(*needed, moveUp);
      moveUp(group);
    }
  }
}

} // namespace

bool isElementwise(Operation &op) { return hasScalarFunction(&op); }

bool hasOneReader(Value value) { return !value.use_empty() && llvm::all_equal(value.getUsers()); }

void formGroups(Block &body, Selection *selection) {
  Sequences sequences(selection);
  for (Operation &op : body)
    if (!llvm::isa<kernel::ViewOp, kernel::StridedViewOp, kernel::GroupOp, tosa::ConstOp,
                   func::ReturnOp>(op))
      sequences.add(op);
  for (const Sequence &sequence : sequences.all())
    if (!sequence.ops.empty())
      formGroup(sequence);
  moveSmallOperandsUp(body);
}

} // namespace tilewright
