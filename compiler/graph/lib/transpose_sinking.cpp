// Moves transposes towards the results: op(transpose(x)) becomes transpose(op'(x)), until two
// transposes meet and merge. A convolution network in NCHW thus keeps NHWC between its
// convolutions.
#include "dims.h"
#include "patterns.h"
#include "permutation.h"
#include "pointwise.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

// Rebuilds `op` on `operands`, in the layout before `perm`, and puts the transpose behind it, at
// `location`.
mlir::Operation *moveBehind(PatternRewriter &rewriter, mlir::Operation *op,
                            llvm::ArrayRef<mlir::Value> operands, const Permutation &perm,
                            mlir::Location location) {
  auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  mlir::Operation *moved = rewriter.clone(*op);
  moved->setOperands(operands);
  moved->getResult(0).setType(type.clone(permuted(type.getShape(), inverse(perm))));
  rewriter.setInsertionPointAfter(moved);
  rewriter.replaceOp(op, makeTranspose(rewriter, location, moved->getResult(0), perm));
  return moved;
}

// The input of `value` when that is a transpose by `perm`.
mlir::Value undone(mlir::Value value, const Permutation &perm) {
  auto transpose = value.getDefiningOp<tosa::TransposeOp>();
  return transpose && Permutation(transpose.getPerms()) == perm ? transpose.getInput1()
                                                                : mlir::Value();
}

bool movesData(tosa::TransposeOp op) {
  return !movesOnlyUnits(dimsOf(op.getInput1()), Permutation(op.getPerms()));
}

mlir::Value before(PatternRewriter &rewriter, mlir::Location location, mlir::Value value,
                   const Permutation &perm) {
  if (mlir::Value input = undone(value, perm))
    return input;
  return makeTranspose(rewriter, location, value, inverse(perm));
}

// A constant, or one whose transpose is about to be folded.
bool isConstantOrItsTranspose(mlir::Value value) {
  auto transpose = value.getDefiningOp<tosa::TransposeOp>();
  return constantElements(transpose ? transpose.getInput1() : value) != nullptr;
}

// The transpose that moves behind an op on `operands`: one that moves data before one that does
// not, and never a constant's, which folds. Operands that it does not transpose must be constants
// or, for the sake of a permutation that moves data, such that undoing it on them moves none. (For
// the sake of one that moves none, two such operands would pass it to each other for ever.)
tosa::TransposeOp sinkable(mlir::OperandRange operands) {
  tosa::TransposeOp found;
  for (mlir::Value operand : operands) {
    auto transpose = operand.getDefiningOp<tosa::TransposeOp>();
    if (transpose && !isConstantOrItsTranspose(operand) &&
        (!found || (movesData(transpose) && !movesData(found))))
      found = transpose;
  }
  if (!found)
    return {};
  Permutation perm(found.getPerms());
  for (mlir::Value operand : operands)
    if (!undone(operand, perm) && !isConstantOrItsTranspose(operand) &&
        !(movesData(found) && movesOnlyUnits(dimsOf(operand), inverse(perm))))
      return {};
  return found;
}

LogicalResult sinkThrough(mlir::Operation *op, unsigned count, PatternRewriter &rewriter,
                          llvm::function_ref<void(mlir::Operation *, const Permutation &)> adapt) {
  tosa::TransposeOp transpose = sinkable(op->getOperands().take_front(count));
  if (!transpose)
    return failure();
  const Permutation perm(transpose.getPerms());
  // The model's own keeps its name wherever it goes.
  const mlir::Location location =
      isLayout(transpose.getLoc()) ? layoutLocation(op->getLoc()) : transpose.getLoc();
  llvm::SmallVector<mlir::Value> operands(op->getOperands());
  for (unsigned i = 0; i < count; ++i)
    operands[i] = before(rewriter, layoutLocation(op->getLoc()), operands[i], perm);
  mlir::Operation *moved = moveBehind(rewriter, op, operands, perm, location);
  adapt(moved, perm);
  return success();
}

class PointwiseSinking : public mlir::RewritePattern {
public:
  explicit PointwiseSinking(mlir::MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(mlir::Operation *op, PatternRewriter &rewriter) const override {
    unsigned count = pointwiseOperands(op);
    if (count == 0)
      return failure();
    return sinkThrough(op, count, rewriter, [](mlir::Operation *, const Permutation &) {});
  }
};

// Ops with an axis: reductions, concat, reverse.
template <typename Op> LogicalResult sinkThroughAxis(Op op, PatternRewriter &rewriter) {
  return sinkThrough(op, op->getNumOperands(), rewriter,
                     [&](mlir::Operation *moved, const Permutation &perm) {
                       auto axis = static_cast<unsigned>(llvm::cast<Op>(moved).getAxis());
                       llvm::cast<Op>(moved).setAxis(perm[axis]);
                     });
}

// A convolution of one tap reads each pixel by itself, wherever it stands. Not where there are more
// channels behind it: more would be moved.
LogicalResult sinkThroughPixels(tosa::Conv2DOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput().getDefiningOp<tosa::TransposeOp>();
  const Dims weights = dimsOf(op.getWeight());
  auto all = [](llvm::ArrayRef<int64_t> numbers, int64_t value) {
    return llvm::all_of(numbers, [=](int64_t number) { return number == value; });
  };
  if (!transpose || !movesData(transpose) || transpose.getPerms().back() != 3 ||
      weights.front() > weights.back() || !all(llvm::ArrayRef(weights).slice(1, 2), 1) ||
      !all(op.getStride(), 1) || !all(op.getPad(), 0))
    return failure();
  return sinkThrough(op, 1, rewriter, [](mlir::Operation *, const Permutation &) {});
}

// A constant that holds `each` values a dimension, in the order before `perm`.
mlir::Value permutedShape(PatternRewriter &rewriter, mlir::Operation *op, const Dims &values,
                          const Permutation &perm, int64_t each) {
  Dims result;
  for (int32_t from : inverse(perm))
    for (int64_t i = 0; i < each; ++i)
      result.push_back(values[from * each + i]);
  rewriter.setInsertionPoint(op);
  return makeShape(rewriter, op->getLoc(), result);
}

// Ops whose first operand is data and whose others are shapes with `each` values a dimension (or
// parameters, with 0).
template <typename Op>
LogicalResult sinkThroughShapes(Op op, PatternRewriter &rewriter, llvm::ArrayRef<int64_t> each) {
  llvm::SmallVector<Dims> shapes;
  for (size_t i = 0; i < each.size(); ++i) {
    std::optional<Dims> values = each[i] ? constantIntegers(op->getOperand(1 + i)) : Dims();
    if (!values)
      return failure();
    shapes.push_back(*values);
  }
  return sinkThrough(op, 1, rewriter, [&](mlir::Operation *moved, const Permutation &perm) {
    for (size_t i = 0; i < each.size(); ++i)
      if (each[i])
        moved->setOperand(1 + i, permutedShape(rewriter, moved, shapes[i], perm, each[i]));
  });
}

LogicalResult sinkThroughPad(tosa::PadOp op, PatternRewriter &rewriter) {
  return sinkThroughShapes(op, rewriter, {2, 0});
}
LogicalResult sinkThroughSlice(tosa::SliceOp op, PatternRewriter &rewriter) {
  return sinkThroughShapes(op, rewriter, {1, 1});
}
LogicalResult sinkThroughTile(tosa::TileOp op, PatternRewriter &rewriter) {
  return sinkThroughShapes(op, rewriter, {1});
}

// Runs of `dims` whose products are `merged`; nothing where these are none.
std::optional<llvm::SmallVector<llvm::SmallVector<int32_t>>> runsOf(const Dims &dims,
                                                                    const Dims &merged) {
  llvm::SmallVector<llvm::SmallVector<int32_t>> runs;
  size_t next = 0;
  for (const int64_t wanted : merged) {
    llvm::SmallVector<int32_t> run;
    int64_t elements = 1;
    while (next < dims.size() && (run.empty() || elements < wanted)) {
      elements *= dims[next];
      run.push_back(static_cast<int32_t>(next++));
    }
    if (run.empty() || elements != wanted)
      return std::nullopt;
    runs.push_back(run);
  }
  return next == dims.size() ? std::optional(runs) : std::nullopt;
}

// A reshape merges dimensions that stand side by side before the transpose as well, as those of an
// image's pixels do.
LogicalResult sinkThroughReshape(tosa::ReshapeOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput1().getDefiningOp<tosa::TransposeOp>();
  if (!transpose || !movesData(transpose) || isConstantOrItsTranspose(transpose.getOutput()))
    return failure();
  const Permutation perm(transpose.getPerms());
  const auto runs = runsOf(dimsOf(transpose.getOutput()), dimsOf(op.getOutput()));
  if (!runs)
    return failure();
  llvm::SmallVector<std::pair<int32_t, int32_t>> order; // where a run begins before, its number
  for (const auto &[number, run] : llvm::enumerate(*runs)) {
    for (size_t i = 1; i < run.size(); ++i)
      if (perm[run[i]] != perm[run[i - 1]] + 1)
        return failure();
    order.emplace_back(perm[run.front()], static_cast<int32_t>(number));
  }
  llvm::sort(order);
  Permutation moved(order.size());
  Dims shape;
  for (const auto &[place, each] : llvm::enumerate(order)) {
    moved[each.second] = static_cast<int32_t>(place);
    shape.push_back(dimsOf(op.getOutput())[each.second]);
  }
  mlir::Value merged = makeReshape(rewriter, op.getLoc(), transpose.getInput1(), shape);
  rewriter.replaceOp(op, makeTranspose(rewriter, transpose.getLoc(), merged, moved));
  return success();
}

// A reshape cuts dimensions, each into several: before the transpose as well.
LogicalResult sinkThroughSplit(tosa::ReshapeOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput1().getDefiningOp<tosa::TransposeOp>();
  if (!transpose || !movesData(transpose) || isConstantOrItsTranspose(transpose.getOutput()))
    return failure();
  const Permutation perm(transpose.getPerms());
  const Dims cut = dimsOf(op.getOutput());
  const auto runs = runsOf(cut, dimsOf(transpose.getOutput()));
  if (!runs || cut.size() == perm.size())
    return failure();
  Dims shape;
  Permutation moved(cut.size());
  for (const int32_t from : inverse(perm))
    for (const int32_t each : (*runs)[from]) {
      moved[each] = static_cast<int32_t>(shape.size());
      shape.push_back(cut[each]);
    }
  mlir::Value split = makeReshape(rewriter, op.getLoc(), transpose.getInput1(), shape);
  rewriter.replaceOp(op, makeTranspose(rewriter, transpose.getLoc(), split, moved));
  return success();
}

} // namespace

void addTransposeSinking(mlir::RewritePatternSet &patterns) {
  patterns.add<PointwiseSinking>(patterns.getContext());
  patterns.add(sinkThroughAxis<tosa::ReduceMaxOp>)
      .add(sinkThroughAxis<tosa::ReduceMinOp>)
      .add(sinkThroughAxis<tosa::ReduceSumOp>)
      .add(sinkThroughAxis<tosa::ReduceProductOp>)
      .add(sinkThroughAxis<tosa::ReduceAllOp>)
      .add(sinkThroughAxis<tosa::ReduceAnyOp>)
      .add(sinkThroughAxis<tosa::ConcatOp>)
      .add(sinkThroughAxis<tosa::ReverseOp>)
      .add(sinkThroughPixels)
      .add(sinkThroughReshape)
      .add(sinkThroughSplit)
      .add(sinkThroughPad)
      .add(sinkThroughSlice)
      .add(sinkThroughTile);
}

} // namespace tilewright
