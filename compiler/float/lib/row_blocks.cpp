#include "row_blocks.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <optional>

using namespace mlir;

namespace tilewright::float_kernels {

// What is handed on is worth it where it does not fit into a cache as a whole; a block should.
static constexpr int64_t leastBytes = int64_t(16) << 20, leastOfBlock = int64_t(1) << 19;

bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>() ||
         isa<tosa::CastOp, tosa::MulOp>(op);
}

namespace {

struct Rows {
  int64_t batches = 0, rows = 0;
  bool operator==(const Rows &other) const {
    return batches == other.batches && rows == other.rows;
  }
  bool operator!=(const Rows &other) const { return !(*this == other); }
};

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// A value as [batches, rows, columns]; leading dimensions but one are 1.
std::optional<Rows> rowsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 3)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  Rows rows{1, shape[shape.size() - 2]};
  for (int64_t size : shape.drop_back(2))
    rows.batches *= size;
  return rows;
}

bool isShaper(Operation *op) { return isa<tosa::ReshapeOp, tosa::IdentityOp>(op); }

// One value for all rows: a row, an element or a constant that the kernel knows.
bool isForAll(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || llvm::all_of(type.getShape().drop_back(type.getRank() > 0 ? 1 : 0),
                               [](int64_t size) { return size == 1; });
}

// Whether a row of the result needs nothing but that row of operands, and what all rows share.
bool isByRows(Operation *op, const Rows &rows) {
  if (op->getNumResults() != 1 || rowsOf(op->getResult(0)) != rows)
    return false;
  if (isShaper(op))
    return rowsOf(op->getOperand(0)) == rows;
  if (isa<tosa::MatMulOp>(op))
    return rowsOf(op->getOperand(0)) == rows;
  if (isa<tosa::ReduceMaxOp, tosa::ReduceSumOp>(op)) {
    const auto axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
    return axis == typeOf(op->getOperand(0)).getRank() - 1;
  }
  if (!isElementwise(op))
    return false;
  const int64_t rank = typeOf(op->getResult(0)).getRank();
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return isForAll(operand) || (type && type.getRank() == rank && rowsOf(operand) == rows);
  });
}

class Finder {
public:
  Finder(func::FuncOp main, const llvm::DenseSet<Value> &whole) : whole_(whole) {
    for (Operation &op : main.getBody().front().without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>())
        ops_.push_back(&op);
  }

  RowBlocks find() {
    for (size_t begin = 0; begin < ops_.size(); ++begin) {
      const size_t end = endFrom(begin);
      for (bool isMember : {false, true})
        for (size_t i = begin; i <= end; ++i)
          if (made_.ofOperators.contains(ops_[i]) == isMember)
            made_.order.push_back(ops_[i]);
      begin = end;
    }
    return std::move(made_);
  }

private:
  // Enters the sequence that begins with a product, up to the first one whose rows it hands on; the
  // last operator of it. `begin`: there is none.
  size_t endFrom(size_t begin) {
    constexpr size_t longest = 32; // operators, with others that stand between
    // A product of a value with itself would take blocks of it and all of its rows.
    if (!isa<tosa::MatMulOp>(ops_[begin]) ||
        ops_[begin]->getOperand(0) == ops_[begin]->getOperand(1))
      return begin;
    const std::optional<Rows> rows = rowsOf(ops_[begin]->getResult(0));
    std::vector<Operation *> members{ops_[begin]};
    for (size_t end = begin + 1; rows && end < std::min(ops_.size(), begin + longest); ++end) {
      Operation *op = ops_[end];
      const bool isMember = llvm::any_of(op->getOperands(), [&](Value operand) {
        return llvm::is_contained(members, operand.getDefiningOp());
      });
      if (!isMember)
        continue;
      if (!isByRows(op, *rows))
        return begin;
      members.push_back(op);
      if (isa<tosa::MatMulOp>(op))
        return handsOn(members) && enter(members, *rows) ? end : begin;
    }
    return begin;
  }

  // Whether what is made before the last operator is read within the sequence alone.
  bool handsOn(llvm::ArrayRef<Operation *> members) const {
    return llvm::all_of(members.drop_back(), [&](Operation *op) {
      Value result = op->getResult(0);
      return !whole_.contains(result) && llvm::all_of(result.getUsers(), [&](Operation *user) {
        return llvm::is_contained(members, user) && isReadByRows(result, user);
      });
    });
  }

  // Of a product's second operand all rows are read.
  static bool isReadByRows(Value value, Operation *user) {
    return !isa<tosa::MatMulOp>(user) || user->getOperand(1) != value;
  }

  bool enter(llvm::ArrayRef<Operation *> members, const Rows &rows) {
    int64_t largest = 0; // bytes
    for (Operation *op : members.drop_back()) {
      RankedTensorType type = typeOf(op->getResult(0));
      largest =
          std::max(largest, type.getNumElements() * type.getElementTypeBitWidth() / int64_t(8));
    }
    if (largest < leastBytes)
      return false;
    RowBlock each;
    each.blocks.sequence = sequences_++;
    each.blocks.batches = rows.batches;
    while (rows.rows % (2 * each.blocks.ofBatch) == 0 &&
           largest / rows.batches / (2 * each.blocks.ofBatch) >= leastOfBlock)
      each.blocks.ofBatch *= 2;
    for (Operation *op : members) {
      each.columns = isa<tosa::MatMulOp>(op) ? op->getOperand(1) : Value();
      each.blocks.isHandedOn = op != members.back();
      made_.ofOperators[op] = each;
    }
    return true;
  }

  const llvm::DenseSet<Value> &whole_;
  std::vector<Operation *> ops_;
  RowBlocks made_;
  size_t sequences_ = 0;
};

} // namespace

Blocks RowBlock::blocksOf(const std::vector<Value> &operands) const {
  Blocks made = blocks;
  for (Value operand : operands)
    made.steps.push_back(isForAll(operand)    ? Blocks::All
                         : operand == columns ? Blocks::ByBatch
                                              : Blocks::ByBlock);
  return made;
}

RowBlocks findRowBlocks(func::FuncOp main, const llvm::DenseSet<Value> &whole) {
  return Finder(main, whole).find();
}

RankedTensorType partOf(RankedTensorType type, const Blocks &blocks, Blocks::Step step) {
  if (step == Blocks::All)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  std::fill(shape.begin(), shape.end() - 2, 1);
  if (step == Blocks::ByBlock)
    shape[shape.size() - 2] /= blocks.ofBatch;
  return type.clone(shape);
}

} // namespace tilewright::float_kernels
