// Removes ops that change nothing, and merges sequences of the same kind.
#include "dims.h"
#include "patterns.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/given_parameters.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include <cmath>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

// Replaces an op that yields its operand; types must be equal.
LogicalResult forward(PatternRewriter &rewriter, mlir::Operation *op, mlir::Value value) {
  if (op->getResult(0).getType() != value.getType())
    return failure();
  rewriter.replaceOp(op, value);
  return success();
}

LogicalResult dropIdentity(tosa::IdentityOp op, PatternRewriter &rewriter) {
  return forward(rewriter, op, op.getInput1());
}
LogicalResult dropSlice(tosa::SliceOp op, PatternRewriter &rewriter) {
  return forward(rewriter, op, op.getInput1());
}
LogicalResult dropTile(tosa::TileOp op, PatternRewriter &rewriter) {
  return forward(rewriter, op, op.getInput1());
}
LogicalResult dropPad(tosa::PadOp op, PatternRewriter &rewriter) {
  return forward(rewriter, op, op.getInput1());
}
LogicalResult dropCast(tosa::CastOp op, PatternRewriter &rewriter) {
  return forward(rewriter, op, op.getInput());
}
LogicalResult dropConcat(tosa::ConcatOp op, PatternRewriter &rewriter) {
  return op.getInput1().size() == 1 ? forward(rewriter, op, op.getInput1()[0]) : failure();
}
template <typename Reduction> LogicalResult dropReduction(Reduction op, PatternRewriter &rewriter) {
  return forward(rewriter, op, op.getInput());
}

LogicalResult mergeReshape(tosa::ReshapeOp op, PatternRewriter &rewriter) {
  if (succeeded(forward(rewriter, op, op.getInput1())))
    return success();
  auto inner = op.getInput1().getDefiningOp<tosa::ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<tosa::ReshapeOp>(op, op.getType(), inner.getInput1(), op.getShape());
  return success();
}

LogicalResult mergeTransposes(tosa::TransposeOp op, PatternRewriter &rewriter) {
  llvm::ArrayRef<int32_t> outer = op.getPerms();
  if (llvm::is_sorted(outer)) {
    rewriter.replaceOp(op, op.getInput1());
    return success();
  }
  auto inner = op.getInput1().getDefiningOp<tosa::TransposeOp>();
  if (!inner)
    return failure();
  llvm::SmallVector<int32_t> both;
  for (int32_t from : outer)
    both.push_back(inner.getPerms()[from]);
  // What the model asks for gives its name to what only the layout needs.
  const bool isOwn = !isLayout(op.getLoc()) || isLayout(inner.getLoc());
  const mlir::Location location = isOwn ? fusedLocation(op.getLoc(), inner.getLoc())
                                        : fusedLocation(inner.getLoc(), op.getLoc());
  rewriter.replaceOp(op, makeTranspose(rewriter, location, inner.getInput1(), both));
  return success();
}

struct Bounds {
  float low;
  float high;
};

std::optional<Bounds> floatBounds(tosa::ClampOp op) {
  auto low = llvm::dyn_cast<mlir::FloatAttr>(op.getMinVal());
  auto high = llvm::dyn_cast<mlir::FloatAttr>(op.getMaxVal());
  if (!low || !high || !isFloat32(op.getInput()))
    return std::nullopt;
  return Bounds{low.getValue().convertToFloat(), high.getValue().convertToFloat()};
}

LogicalResult mergeClamp(tosa::ClampOp op, PatternRewriter &rewriter) {
  std::optional<Bounds> outer = floatBounds(op);
  if (!outer)
    return failure();
  if (outer->low == -INFINITY && outer->high == INFINITY)
    return forward(rewriter, op, op.getInput());
  auto inner = op.getInput().getDefiningOp<tosa::ClampOp>();
  if (!inner || inner.getNanMode() != op.getNanMode())
    return failure();
  std::optional<Bounds> bounds = floatBounds(inner);
  if (!bounds)
    return failure();
  // What the model stores in between is rounded there.
  const auto between = givenParameters(inner.getOperation());
  const auto own = givenParameters(op.getOperation());
  if (between && own == between && outer->low <= bounds->low && bounds->high <= outer->high)
    return forward(rewriter, op, inner.getOutput());
  if (between)
    return failure();
  auto clamped = [&](float x) { return std::min(std::max(x, outer->low), outer->high); };
  auto location = fusedLocation(inner.getLoc(), op.getLoc());
  auto merged =
      tosa::ClampOp::create(rewriter, location, op.getType(), inner.getInput(),
                            rewriter.getF32FloatAttr(clamped(bounds->low)),
                            rewriter.getF32FloatAttr(clamped(bounds->high)), op.getNanModeAttr());
  if (own)
    setGivenParameters(merged, *own);
  rewriter.replaceOp(op, merged.getOutput());
  return success();
}

// max(x, c) and min(x, c) with one number are clamps.
template <typename Op> LogicalResult toClamp(Op op, PatternRewriter &rewriter) {
  for (int side : {0, 1}) {
    mlir::Value x = op->getOperand(1 - side);
    std::optional<float> bound = splatFloat(op->getOperand(side));
    if (!bound || std::isnan(*bound) || x.getType() != op.getType())
      continue;
    bool lower = std::is_same_v<Op, tosa::MaximumOp>;
    rewriter.replaceOpWithNewOp<tosa::ClampOp>(
        op, op.getType(), x, rewriter.getF32FloatAttr(lower ? *bound : -INFINITY),
        rewriter.getF32FloatAttr(lower ? INFINITY : *bound), op.getNanModeAttr());
    return success();
  }
  return failure();
}

// Constants stand on the right, so that other patterns look there only.
template <typename Op> LogicalResult constantToRight(Op op, PatternRewriter &rewriter) {
  if (!constantElements(op->getOperand(0)) || constantElements(op->getOperand(1)))
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    mlir::Value left = op->getOperand(0);
    op->setOperand(0, op->getOperand(1));
    op->setOperand(1, left);
  });
  return success();
}

LogicalResult subtractToAdd(tosa::SubOp op, PatternRewriter &rewriter) {
  std::optional<std::vector<float>> values = constantFloats(op.getInput2());
  if (!values)
    return failure();
  for (float &value : *values)
    value = -value;
  mlir::Value negated = makeFloats(rewriter, op.getLoc(), dimsOf(op.getInput2()), *values);
  rewriter.replaceOpWithNewOp<tosa::AddOp>(op, op.getType(), op.getInput1(), negated);
  return success();
}

bool isFloatOp(mlir::Operation *op) { return isFloat32(op->getResult(0)); }

LogicalResult dropAddZero(tosa::AddOp op, PatternRewriter &rewriter) {
  return splatFloat(op.getInput2()) == 0.0f ? forward(rewriter, op, op.getInput1()) : failure();
}

LogicalResult dropTimesOne(tosa::MulOp op, PatternRewriter &rewriter) {
  return splatFloat(op.getInput2()) == 1.0f ? forward(rewriter, op, op.getInput1()) : failure();
}

// (x + a) + b is x + (a + b), and so for products.
template <typename Op> LogicalResult mergeConstants(Op op, PatternRewriter &rewriter) {
  auto inner = op->getOperand(0).template getDefiningOp<Op>();
  if (!isFloatOp(op) || !inner || !inner->hasOneUse() || !constantElements(op->getOperand(1)) ||
      !constantElements(inner->getOperand(1)))
    return failure();
  // Only constants that broadcast to each other within one of their shapes: the merged one is no
  // larger.
  Dims a = dimsOf(inner->getOperand(1)), b = dimsOf(op->getOperand(1)), merged;
  for (size_t i = 0; i < a.size(); ++i)
    merged.push_back(std::max(a[i], b[i]));
  if (merged != a && merged != b)
    return failure();
  auto location = fusedLocation(inner.getLoc(), op.getLoc());
  auto type = mlir::RankedTensorType::get(merged, rewriter.getF32Type());
  mlir::Operation *combined = rewriter.clone(*op);
  combined->setOperand(0, inner->getOperand(1));
  combined->getResult(0).setType(type);
  mlir::Operation *result = rewriter.clone(*op);
  result->setLoc(location);
  result->setOperand(0, inner->getOperand(0));
  result->setOperand(1, combined->getResult(0));
  rewriter.replaceOp(op, result);
  return success();
}

template <typename Pool> LogicalResult dropUnitPool(Pool op, PatternRewriter &rewriter) {
  bool unit = llvm::all_of(op.getKernel(), [](int64_t each) { return each == 1; }) &&
              llvm::all_of(op.getStride(), [](int64_t each) { return each == 1; }) && isFloatOp(op);
  return unit ? forward(rewriter, op, op.getInput()) : failure();
}

} // namespace

void addSimplifications(mlir::RewritePatternSet &patterns) {
  patterns.add(dropIdentity)
      .add(dropSlice)
      .add(dropTile)
      .add(dropPad)
      .add(dropCast)
      .add(dropConcat)
      .add(dropReduction<tosa::ReduceSumOp>)
      .add(dropReduction<tosa::ReduceMaxOp>)
      .add(dropReduction<tosa::ReduceMinOp>)
      .add(mergeReshape)
      .add(mergeTransposes)
      .add(mergeClamp)
      .add(toClamp<tosa::MaximumOp>)
      .add(toClamp<tosa::MinimumOp>)
      .add(constantToRight<tosa::AddOp>)
      .add(constantToRight<tosa::MulOp>)
      .add(subtractToAdd)
      .add(dropAddZero)
      .add(dropTimesOne)
      .add(mergeConstants<tosa::AddOp>)
      .add(mergeConstants<tosa::MulOp>)
      .add(dropUnitPool<tosa::AvgPool2dOp>)
      .add(dropUnitPool<tosa::MaxPool2dOp>);
}

} // namespace tilewright
