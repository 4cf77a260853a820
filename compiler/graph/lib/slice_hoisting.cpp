// What a slice drops is not computed.
//
//  1. Backwards from a slice: an operation joins whose result goes nowhere but into the slice, into
//     slices of the same part, and into operations that have joined, when the part of its result
//     that they take follows from one part of each operand.
//  2. Slices of what the joined operations read come before them; they compute the part alone.
//
// An element-wise operation stays behind a convolution that needs more than the part: it is done
// where the convolution's result is.
#include "dims.h"
#include "patterns.h"
#include "pointwise.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/tosa/constants.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <queue>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;

struct Box {
  Dims start, size;
  bool operator==(const Box &other) const { return start == other.start && size == other.size; }
};

Box wholeOf(mlir::Value value) {
  const Dims size = dimsOf(value);
  return {Dims(size.size(), 0), size};
}

std::optional<Box> boxOf(tosa::SliceOp slice) {
  const std::optional<Dims> start = constantIntegers(slice.getStart()),
                            size = constantIntegers(slice.getSize());
  if (!start || !size)
    return std::nullopt;
  return Box{*start, *size};
}

using OperandBoxes = llvm::SmallVector<std::optional<Box>, 4>; // nothing: as it is

bool isPointwise(mlir::Operation *op) {
  return pointwiseOperands(op) > 0 || llvm::isa<tosa::RescaleOp>(op);
}

std::optional<OperandBoxes> throughPointwise(mlir::Operation *op, const Box &box) {
  OperandBoxes boxes(op->getNumOperands());
  const Dims all = dimsOf(op->getResult(0));
  if (pointwiseOperands(op) == 0 && box.size.back() != all.back())
    return std::nullopt; // a rescale that has parameters of each
  for (unsigned i = 0; i < std::max(1u, pointwiseOperands(op)); ++i) {
    const Dims shape = dimsOf(op->getOperand(i));
    if (shape.size() != all.size())
      return std::nullopt;
    Box part = box;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 1)
        part.start[d] = 0, part.size[d] = 1;
    boxes[i] = part;
  }
  return boxes;
}

// A dimension of the result that the slice cuts is one of the input, too.
std::optional<OperandBoxes> throughReshape(tosa::ReshapeOp op, const Box &box) {
  const Dims from = dimsOf(op.getInput1()), to = dimsOf(op.getOutput());
  Box part = wholeOf(op.getInput1());
  int64_t before = 1;
  for (size_t d = 0; d < to.size(); before *= to[d++]) {
    if (box.size[d] == to[d])
      continue;
    size_t same = 0;
    for (int64_t product = 1; same < from.size(); product *= from[same++])
      if (product == before && from[same] == to[d])
        break;
    if (same == from.size())
      return std::nullopt;
    part.start[same] = box.start[d];
    part.size[same] = box.size[d];
  }
  return OperandBoxes{part, std::nullopt};
}

std::optional<OperandBoxes> throughTranspose(tosa::TransposeOp op, const Box &box) {
  Box part = box;
  for (auto [to, from] : llvm::enumerate(op.getPerms())) {
    part.start[from] = box.start[to];
    part.size[from] = box.size[to];
  }
  return OperandBoxes{part};
}

std::optional<OperandBoxes> throughReduction(mlir::Operation *op, const Box &box) {
  const int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  Box part = box;
  part.start[axis] = 0;
  part.size[axis] = dimsOf(op->getOperand(0))[axis];
  OperandBoxes boxes(op->getNumOperands());
  boxes[0] = part;
  return boxes;
}

// A product of matrices [N,H,C] and [N,C,W].
std::optional<OperandBoxes> throughProduct(tosa::MatMulOp op, const Box &box) {
  Box a = wholeOf(op.getA()), b = wholeOf(op.getB());
  for (Box *part : {&a, &b}) {
    part->start[0] = box.start[0];
    part->size[0] = box.size[0];
  }
  a.start[1] = box.start[1], a.size[1] = box.size[1];
  b.start[2] = box.start[2], b.size[2] = box.size[2];
  OperandBoxes boxes(op->getNumOperands());
  boxes[0] = a;
  boxes[1] = b;
  return boxes;
}

// Rows and columns of which each output reads one.
std::optional<OperandBoxes> throughConvolution(tosa::Conv2DOp op, const Box &box) {
  const Dims all = dimsOf(op.getOutput()), weights = dimsOf(op.getWeight());
  if (box.size[3] != all[3])
    return std::nullopt;
  Box part = wholeOf(op.getInput());
  part.start[0] = box.start[0], part.size[0] = box.size[0];
  for (size_t d : {1, 2}) {
    if (box.size[d] == all[d])
      continue;
    if (weights[d] != 1 || op.getStride()[d - 1] != 1 || op.getPad()[2 * d - 2] != 0 ||
        op.getPad()[2 * d - 1] != 0)
      return std::nullopt;
    part.start[d] = box.start[d], part.size[d] = box.size[d];
  }
  OperandBoxes boxes(op->getNumOperands());
  boxes[0] = part;
  return boxes;
}

std::optional<OperandBoxes> throughSlice(tosa::SliceOp op, const Box &box) {
  std::optional<Box> own = boxOf(op);
  if (!own)
    return std::nullopt;
  Box part = box;
  for (size_t d = 0; d < part.start.size(); ++d)
    part.start[d] += own->start[d];
  return OperandBoxes{part, std::nullopt, std::nullopt};
}

// The part of each operand from which the part of the result follows; nothing where it does not
// follow from a part.
std::optional<OperandBoxes> through(mlir::Operation *op, const Box &box) {
  if (isPointwise(op))
    return throughPointwise(op, box);
  if (auto reshape = llvm::dyn_cast<tosa::ReshapeOp>(op))
    return throughReshape(reshape, box);
  if (auto transpose = llvm::dyn_cast<tosa::TransposeOp>(op))
    return throughTranspose(transpose, box);
  if (auto product = llvm::dyn_cast<tosa::MatMulOp>(op))
    return throughProduct(product, box);
  if (auto convolution = llvm::dyn_cast<tosa::Conv2DOp>(op))
    return throughConvolution(convolution, box);
  if (auto slice = llvm::dyn_cast<tosa::SliceOp>(op))
    return throughSlice(slice, box);
  if (llvm::isa<tosa::ReduceSumOp, tosa::ReduceMaxOp, tosa::ReduceMinOp, tosa::ReduceProductOp>(op))
    return throughReduction(op, box);
  return std::nullopt;
}

bool movesData(mlir::Operation *op) {
  return llvm::isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(op);
}

// The operation on parts of its operands, which yields the part `box`.
mlir::Value makePart(mlir::OpBuilder &builder, mlir::Operation *op, const Box &box,
                     mlir::ValueRange operands) {
  if (llvm::isa<tosa::SliceOp>(op))
    return operands[0];
  if (llvm::isa<tosa::ReshapeOp>(op))
    return makeReshape(builder, op->getLoc(), operands[0], box.size);
  mlir::Operation *part = builder.clone(*op);
  part->setOperands(operands);
  auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  part->getResult(0).setType(type.clone(box.size));
  return part->getResult(0);
}

class Hoisting {
public:
  Hoisting(tosa::SliceOp slice, Box box) : slice_(slice), box_(std::move(box)) {}

  // False: nothing joins.
  bool grow() {
    auto isEarlier = [](mlir::Operation *a, mlir::Operation *b) { return a->isBeforeInBlock(b); };
    std::priority_queue<mlir::Operation *, std::vector<mlir::Operation *>, decltype(isEarlier)>
        next(isEarlier);
    auto demand = [&](mlir::Value value, const Box &box) {
      llvm::SmallVector<Box> &boxes = demanded_[value];
      if (!llvm::is_contained(boxes, box))
        boxes.push_back(box);
      if (boxes.size() == 1 && value.getDefiningOp())
        next.push(value.getDefiningOp());
    };
    demand(slice_.getInput1(), box_);
    bool computes = false;
    while (!next.empty()) {
      mlir::Operation *op = next.top();
      next.pop();
      if (joined_.contains(op) || op->getNumResults() != 1)
        continue;
      mlir::Value result = op->getResult(0);
      const Box box = demanded_[result].front();
      if (demanded_[result].size() > 1 || isReadWhole_.contains(result) ||
          !isReadWithin(result, nullptr))
        continue;
      const std::optional<OperandBoxes> boxes = through(op, box);
      if (!boxes || (isPointwise(op) && isBehindAnchor(op, box, 0)))
        continue;
      joined_.insert(op);
      computes |= !movesData(op);
      for (auto [i, part] : llvm::enumerate(*boxes))
        if (part && part->size != dimsOf(op->getOperand(i)))
          demand(op->getOperand(i), *part);
        else
          isReadWhole_.insert(op->getOperand(i));
    }
    return computes;
  }

  void apply() {
    for (mlir::Operation *op : llvm::reverse(joined_)) // in program order
      made_[op->getResult(0)] = partOf(op);
    mlir::Value whole = slice_.getInput1(), part = made_.lookup(whole);
    for (mlir::Operation *user : llvm::make_early_inc_range(whole.getUsers()))
      if (isSame(user)) {
        user->getResult(0).replaceAllUsesWith(part);
        user->erase();
      }
    for (mlir::Operation *op : joined_)
      op->erase();
  }

private:
  // A slice of the same part of the same value.
  bool isSame(mlir::Operation *user) const {
    auto slice = llvm::dyn_cast<tosa::SliceOp>(user);
    if (!slice || slice.getInput1() != slice_->getOperand(0))
      return false;
    const std::optional<Box> box = boxOf(slice);
    return box && *box == box_;
  }

  bool isReadWithin(mlir::Value value, mlir::Operation *besides) const {
    return llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
      return joined_.contains(user) || user == besides || isSame(user);
    });
  }

  // Whether a convolution, pool or product that needs more than the part is before it, with nobody
  // else who reads it.
  bool isBehindAnchor(mlir::Operation *op, const Box &box, int depth) const {
    constexpr int deepest = 16;
    const std::optional<OperandBoxes> boxes = through(op, box);
    if (!boxes || depth > deepest)
      return false;
    for (auto [i, part] : llvm::enumerate(*boxes)) {
      mlir::Operation *before = part ? op->getOperand(i).getDefiningOp() : nullptr;
      if (!before || before->getNumResults() != 1 || !isReadWithin(before->getResult(0), op))
        continue;
      const bool isAnchor =
          llvm::isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
                    tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::MatMulOp>(before);
      if (isAnchor && !through(before, *part))
        return true;
      if ((isPointwise(before) || llvm::isa<tosa::ReshapeOp>(before)) &&
          isBehindAnchor(before, *part, depth + 1))
        return true;
    }
    return false;
  }

  mlir::Value sliced(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                     const Box &box) {
    if (mlir::Value made = made_.lookup(value))
      return made;
    for (const auto &[known, part] : slices_[value])
      if (known == box)
        return part;
    mlir::Value part = makeSlice(builder, location, value, box.start, box.size);
    slices_[value].push_back({box, part});
    return part;
  }

  mlir::Value partOf(mlir::Operation *op) {
    mlir::OpBuilder builder(op);
    const Box &box = demanded_[op->getResult(0)].front();
    const OperandBoxes boxes = *through(op, box);
    llvm::SmallVector<mlir::Value> operands(op->getOperands());
    for (auto [i, part] : llvm::enumerate(boxes))
      if (part && part->size != dimsOf(operands[i]))
        operands[i] = sliced(builder, op->getLoc(), operands[i], *part);
    return makePart(builder, op, box, operands);
  }

  tosa::SliceOp slice_;
  Box box_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Box>> demanded_;
  llvm::DenseSet<mlir::Value> isReadWhole_;   // by operations that have joined
  llvm::SetVector<mlir::Operation *> joined_; // the last one first
  llvm::DenseMap<mlir::Value, mlir::Value> made_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<Box, mlir::Value>>> slices_;
};

// Operations of which each slice gets a part of its own.
using Apart = llvm::SmallPtrSet<mlir::Operation *, 8>;

mlir::Value constantPart(mlir::OpBuilder &builder, mlir::Value value, const Box &box) {
  const llvm::SmallVector<int64_t> all = *constantIntegers(value);
  const Dims shape = dimsOf(value);
  llvm::SmallVector<int64_t> part;
  Dims at(shape.size(), 0);
  for (bool isMore = true; isMore;) {
    int64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      from = from * shape[d] + box.start[d] + at[d];
    part.push_back(all[from]);
    isMore = false;
    for (size_t d = shape.size(); d-- > 0 && !isMore;) {
      isMore = ++at[d] < box.size[d];
      if (!isMore)
        at[d] = 0;
    }
  }
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  return makeIntegers(builder, value.getLoc(), box.size,
                      static_cast<int>(type.getElementTypeBitWidth()), part);
}

mlir::Value partOf(mlir::OpBuilder &builder, mlir::Value value, const Box &box,
                   const Apart &apart) {
  if (box.size == dimsOf(value))
    return value;
  mlir::Operation *op = value.getDefiningOp();
  if (!apart.contains(op)) {
    if (op && constantIntegers(value))
      return constantPart(builder, value, box);
    // Where it stands, a move does not part those that compute.
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    return makeSlice(builder, value.getLoc(), value, box.start, box.size);
  }
  const OperandBoxes boxes = *through(op, box);
  llvm::SmallVector<mlir::Value> operands(op->getOperands());
  for (auto [i, part] : llvm::enumerate(boxes))
    if (part)
      operands[i] = partOf(builder, operands[i], *part, apart);
  return makePart(builder, op, box, operands);
}

} // namespace

void hoistParts(llvm::ArrayRef<tosa::SliceOp> slices) {
  if (slices.empty())
    return;
  llvm::SmallVector<Box> boxes;
  for (tosa::SliceOp slice : slices)
    boxes.push_back(boxOf(slice).value());
  Apart apart;
  // What a value is read by that is not apart goes on reading it whole.
  const auto grow = [&](auto &grow, mlir::Value value, llvm::ArrayRef<Box> parts) -> void {
    mlir::Operation *op = value.getDefiningOp();
    const bool isOurs = op && op->getNumResults() == 1 &&
                        llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
                          return apart.contains(user) || llvm::is_contained(slices, user) ||
                                 mlir::isOpTriviallyDead(user);
                        });
    std::vector<OperandBoxes> before;
    for (const Box &box : parts)
      if (std::optional<OperandBoxes> each = isOurs ? through(op, box) : std::nullopt)
        before.push_back(*each);
    if (!isOurs || before.size() != parts.size())
      return;
    apart.insert(op);
    if (llvm::isa<tosa::MatMulOp, tosa::Conv2DOp>(op))
      return;
    for (unsigned i = 0; i < before.front().size(); ++i) {
      llvm::SmallVector<Box> next;
      for (const OperandBoxes &each : before)
        if (each[i] && each[i]->size != dimsOf(op->getOperand(i)))
          next.push_back(*each[i]);
      if (next.size() == parts.size())
        grow(grow, op->getOperand(i), next);
    }
  };
  grow(grow, slices.front()->getOperand(0), boxes);
  mlir::Value whole = slices.front()->getOperand(0);
  if (!apart.contains(whole.getDefiningOp()))
    return;
  for (auto [slice, box] : llvm::zip(slices, boxes)) {
    mlir::OpBuilder builder(slice);
    slice->getResult(0).replaceAllUsesWith(partOf(builder, whole, box, apart));
  }
}

bool hoistSlices(mlir::func::FuncOp function) {
  bool hasChanged = false;
  for (mlir::Block &block : function.getBody()) {
    // Of slices that end alike, the last one goes on from where an earlier one has brought others.
    for (bool isNew = true; isNew;) {
      isNew = false;
      for (tosa::SliceOp slice : llvm::SmallVector<tosa::SliceOp>(block.getOps<tosa::SliceOp>())) {
        const std::optional<Box> box = boxOf(slice);
        if (!box || box->size == dimsOf(slice.getInput1()))
          continue;
        Hoisting hoisting(slice, *box);
        if (!hoisting.grow())
          continue;
        hoisting.apply();
        isNew = hasChanged = true;
        break; // others may be gone
      }
    }
  }
  return hasChanged;
}

} // namespace tilewright
