// Groups of `kernel-fuse`:
//  1. In program order, an element-wise operation joins the group whose last value it reads, when
//  that value has no other reader and the operation keeps its shape; with two such groups, both
//  become one, that with an anchor first. Any other operation starts a group, and so does one
//  behind a product that element-wise operations come before: what they give waits in memory, if it
//  has fewer bits than what they read. Within a group values are signed: unsigned elements enter
//  and leave through memory.
//  What a move repeats is read where it stands: an operation that joins it to what is computed of
//  a product's narrowed result starts a group as well.
//  2. Where a value goes from one group to another that alone reads it, the operations before it
//  are either one's: as many of them go over as let the fewest bytes through memory, then take the
//  fewest instructions.
//  3. What widens the result of a product is a group of its own, if element-wise operations and
//  reductions alone read that: they may have it on chip.
//  4. Each group moves to the place of its last operation, where all that its operations read is
//  known.
//  5. A small operand made of arguments and constants alone comes first, and so does a part of one
//  of these: groups between which it stood may become one region.
#include "fuse.h"
#include "scale.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"
#include "tilewright/compiler/select/scalar_function.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

using namespace mlir;

namespace tilewright {
namespace {

struct Sequence {
  SmallVector<Operation *> ops;
  size_t extended = 0; // position of the last operation in the program
  size_t products = 0; // and others that are not element-wise, before that
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

// Moves and reductions come first, and end with memory all the same.
bool standsAlone(Operation &op) { return llvm::isa<kernel::AssembleOp, kernel::ReduceOp>(op); }

// Whether a move gives elements of its source several times.
bool repeats(Operation &op) {
  auto assembly = dyn_cast<kernel::AssembleOp>(op);
  return assembly && llvm::any_of(assembly.getRegions(), [](Attribute attribute) {
           const kernel::Region region = *kernel::decode(attribute);
           return llvm::any_of(llvm::zip_equal(region.sizes, region.sourceStrides), [](auto each) {
             return std::get<0>(each) > 1 && std::get<1>(each) == 0;
           });
         });
}

class Sequences {
public:
  explicit Sequences(Selection *selection) : selection_(selection) {}

  void add(Operation &op) {
    SmallVector<size_t, 2> continued;
    if (!mustBegin(op))
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
    products_ += mustBegin(op) && !standsAlone(op);
    sequence.products = products_;
    byLast_[&op] = continued[0];
  }

  // Hands operations over to the group that reads what they give.
  void balance() {
    auto order = llvm::to_vector(llvm::seq(sequences_.size()));
    llvm::sort(order,
               [&](size_t a, size_t b) { return sequences_[a].extended < sequences_[b].extended; });
    for (size_t each : order) {
      Sequence &reader = sequences_[each];
      for (size_t i = 0; i < reader.ops.size(); ++i)
        for (Value operand : reader.ops[i]->getOperands()) {
          auto known = byLast_.find(operand.getDefiningOp());
          if (known == byLast_.end() || &sequences_[known->second] == &reader ||
              !mayJoin(operand, *reader.ops[i]))
            continue;
          const size_t before = reader.ops.size();
          handOver(known->second, reader, i);
          i += reader.ops.size() - before;
        }
    }
    for (size_t i = 0, count = sequences_.size(); i < count; ++i)
      splitWidened(i);
  }

  const std::vector<Sequence> &all() const { return sequences_; }

private:
  // An operation that is not element-wise, or reads memory in another way, can only come first.
  static bool mustBegin(Operation &op) { return !hasScalarFunction(&op) || readsUnsigned(op); }
  bool mustBegin(size_t sequence) const { return mustBegin(*sequences_[sequence].ops.front()); }

  // Who goes on when two sequences meet: one with a template, then the later one.
  auto rankOf(size_t sequence) const {
    const bool begins = mustBegin(sequence), alone = standsAlone(*sequences_[sequence].ops.front());
    return std::tuple(begins && !alone, begins, sequences_[sequence].extended);
  }

  // Whether what gives a value and an element-wise operation that reads it may be of one group.
  static bool mayJoin(Value operand, Operation &op) {
    Operation *producer = operand.getDefiningOp();
    return !mustBegin(op) && !givesUnsigned(producer) && hasOneReader(operand) &&
           shapeOf(operand) == shapeOf(op.getResult(0));
  }

  // What the instructions of a group take; nothing where some operation has none.
  std::optional<int64_t> costOf(ArrayRef<Operation *> operations) const {
    Operation *anchor = hasScalarFunction(operations.front()) ? nullptr : operations.front();
    if (!selection_)
      return 0;
    return selection_->cost(anchor, anchor ? operations.drop_front() : operations, biasOf(anchor));
  }

  bool mayBeOne(ArrayRef<size_t> both, Operation &op) const {
    SmallVector<Operation *> operations;
    for (size_t sequence : both)
      operations.append(sequences_[sequence].ops);
    operations.push_back(&op);
    return costOf(operations).has_value();
  }

  // Of two sequences with anchors, the ends of the earlier one that may move to the place in the
  // other: each reads one value of what stays.
  void handOver(size_t giver, Sequence &reader, size_t place) {
    SmallVector<Operation *> &given = sequences_[giver].ops;
    // Bits of an element that go through memory, then instructions.
    using Cost = std::pair<int, int64_t>;
    size_t best = 0;
    std::optional<Cost> least;
    SmallVector<Operation *> whole;
    for (size_t count = 0; count < given.size(); ++count) {
      const auto stays = ArrayRef(given).drop_back(count), goes = ArrayRef(given).take_back(count);
      if (count > 0 && mustBegin(*goes.front()))
        break;
      if (!hangsOn(goes, stays))
        continue;
      whole.assign(reader.ops);
      whole.insert(whole.begin() + static_cast<long>(place), goes.begin(), goes.end());
      const std::optional<int64_t> left = costOf(stays), right = costOf(whole);
      if (!left || !right)
        continue;
      int bits = widthOf(stays.back()->getResult(0));
      if (standsAlone(*stays.front()) && stays.size() > 1)
        bits += widthOf(stays.front()->getResult(0));
      if (const Cost cost(bits, *left + *right); !least || cost < *least) {
        least = cost;
        best = count;
      }
    }
    if (best == 0)
      return;
    const auto goes = ArrayRef(given).take_back(best);
    reader.ops.insert(reader.ops.begin() + static_cast<long>(place), goes.begin(), goes.end());
    byLast_.erase(given.back());
    given.pop_back_n(best);
    byLast_[given.back()] = giver;
  }

  // What is behind a product and widens what this gives is made where it is read, if groups read it
  // that may have it on chip.
  void splitWidened(size_t sequence) {
    SmallVector<Operation *> &ops = sequences_[sequence].ops;
    if (ops.empty() || !mustBegin(sequence) || standsAlone(*ops.front()) ||
        !isReadOnChip(ops.back()->getResult(0)))
      return;
    int least = widthOf(ops.back()->getResult(0));
    size_t kept = ops.size();
    for (size_t count = ops.size() - 1; count > 0; --count) {
      const auto stays = ArrayRef(ops).take_front(count), goes = ArrayRef(ops).drop_front(count);
      const int bits = widthOf(stays.back()->getResult(0));
      if (bits < least && hangsOn(goes, stays) && costOf(stays) && costOf(goes)) {
        least = bits;
        kept = count;
      }
    }
    if (kept == ops.size())
      return;
    Sequence split;
    split.ops.append(ops.begin() + static_cast<long>(kept), ops.end());
    ops.truncate(kept);
    sequences_.push_back(std::move(split)); // `ops` is gone
  }

  static bool isReadOnChip(Value value) {
    return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
      return llvm::isa<kernel::ViewOp>(user)
                 ? isReadOnChip(user->getResult(0))
                 : hasScalarFunction(user) || llvm::isa<kernel::ReduceOp>(user);
    });
  }

  // Whether the last of the operations that stay gives the only value of them that others read.
  static bool hangsOn(ArrayRef<Operation *> goes, ArrayRef<Operation *> stays) {
    return llvm::all_of(goes, [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer == stays.back() || !llvm::is_contained(stays, producer);
      });
    });
  }

  // Whether what a sequence gives had better wait in memory than what it is made of: of a product
  // of activations, both would wait for the products in between.
  bool waits(Value given, size_t sequence) const {
    const Sequence &giver = sequences_[sequence];
    if (giver.products == products_)
      return false;
    if (mustBegin(sequence))
      return llvm::isa<kernel::MatMulOp>(giver.ops.front());
    llvm::SmallPtrSet<Value, 4> read;
    int bits = 0;
    for (Operation *op : giver.ops)
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp<tosa::ConstOp>() &&
            !llvm::is_contained(giver.ops, operand.getDefiningOp()) &&
            shapeOf(operand) == shapeOf(given) && read.insert(operand).second)
          bits += widthOf(operand);
    return widthOf(given) < bits;
  }

  // Whether a product's result is narrowed, and more is done with that.
  static bool goesOnNarrowed(const Sequence &sequence) {
    constexpr int narrow = 8;
    return !standsAlone(*sequence.ops.front()) &&
           llvm::any_of(ArrayRef(sequence.ops).drop_back(),
                        [](Operation *op) { return widthOf(op->getResult(0)) <= narrow; });
  }

  // The first one goes on, and takes in the other one.
  SmallVector<size_t, 2> continuedBy(Operation &op) const {
    SmallVector<size_t, 2> found;
    for (Value operand : op.getOperands()) {
      auto known = byLast_.find(operand.getDefiningOp());
      if (known != byLast_.end() && mayJoin(operand, op) && !waits(operand, known->second) &&
          !llvm::is_contained(found, known->second))
        found.push_back(known->second);
    }
    llvm::sort(found, [&](size_t a, size_t b) { return rankOf(a) > rankOf(b); });
    if (found.size() > 1 && mustBegin(found[1])) {
      // What a move repeats is read in place, though not by what goes on behind a product.
      if (goesOnNarrowed(sequences_[found[0]]) && repeats(*sequences_[found[1]].ops.front()))
        return {};
      found.resize(1);
    }
    return found;
  }

  Selection *selection_;
  std::vector<Sequence> sequences_;
  llvm::DenseMap<Operation *, size_t> byLast_;
  size_t position_ = 0, products_ = 0;
};

// Moves operations into a group behind `place`.
kernel::GroupOp formGroup(ArrayRef<Operation *> ops, Location location, Operation *place) {
  Value result = ops.back()->getResult(0);
  OpBuilder builder(location.getContext());
  builder.setInsertionPointAfter(place);
  auto group = kernel::GroupOp::create(builder, location, result.getType());
  Block *body = builder.createBlock(&group.getBody());
  for (Operation *op : ops)
    op->moveBefore(body, body->end());
  result.replaceAllUsesWith(group.getResult());
  kernel::YieldOp::create(builder, location, result);
  return group;
}

// What follows a move or a reduction reads its result from DRAM: a group of its own.
void formGroups(ArrayRef<Operation *> ops) {
  Operation *place = ops.back();
  SmallVector<Location> locations(llvm::map_range(ops, [](Operation *op) { return op->getLoc(); }));
  Location location = FusedLoc::get(place->getContext(), locations);
  if (standsAlone(*ops.front()) && ops.size() > 1) {
    place = formGroup(ops.take_front(), ops.front()->getLoc(), place);
    ops = ops.drop_front();
  }
  formGroup(ops, location, place);
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
// where some of it is made on the way. `moved`: what is known by now.
std::optional<llvm::SetVector<Operation *>>
knownOperands(kernel::GroupOp group, const llvm::SmallPtrSet<Operation *, 16> &moved) {
  llvm::SetVector<Operation *> needed;
  for (Operation &op : group.getBody().front())
    for (Value operand : op.getOperands()) {
      SmallVector<Operation *> way;
      while (Operation *made = operand.getDefiningOp()) {
        if (made->getParentOp() == group.getOperation() || moved.contains(made))
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

// Whether it copies a part of one tensor and does nothing else.
bool isPart(kernel::GroupOp group) {
  auto operations = group.getBody().front().without_terminator();
  return llvm::hasSingleElement(operations) && llvm::isa<kernel::AssembleOp>(*operations.begin()) &&
         operations.begin()->getNumOperands() == 1;
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
    const bool isSmall = isSmallOperand(group.getResult()) &&
                         llvm::all_of(group.getBody().front().without_terminator(),
                                      [](Operation &op) { return hasScalarFunction(&op); });
    if (!isSmall && !isPart(group))
      continue;
    if (const std::optional<llvm::SetVector<Operation *>> needed = knownOperands(group, moved)) {
      llvm::for_each(*needed, moveUp);
      moveUp(group);
    }
  }
}

} // namespace

bool hasOneReader(Value value) { return !value.use_empty() && llvm::all_equal(value.getUsers()); }

void formGroups(Block &body, Selection *selection) {
  Sequences sequences(selection);
  for (Operation &op : body)
    if (!llvm::isa<kernel::ViewOp, kernel::StridedViewOp, kernel::GroupOp, tosa::ConstOp,
                   func::ReturnOp>(op))
      sequences.add(op);
  sequences.balance();
  for (const Sequence &sequence : sequences.all())
    if (!sequence.ops.empty())
      formGroups(sequence.ops);
  moveSmallOperandsUp(body);
}

} // namespace tilewright
