// What every kernel operation must satisfy: static shapes that fit each other, attributes in range.
// One error each.
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"
#include "tilewright/compiler/tosa/fixed_point.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright::kernel {
namespace {

using Shape = ArrayRef<int64_t>;

std::string text(Shape shape) {
  std::string out = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    out += (i ? ", " : "") + std::to_string(size);
  return out + "]";
}

// Static, without zero sizes, and small enough that no product of sizes overflows.
bool isUsable(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked || !ranked.hasStaticShape())
    return false;
  int64_t greatest = INT32_MAX;
  for (int64_t size : ranked.getShape()) {
    if (size < 1 || size > greatest)
      return false;
    greatest /= size;
  }
  return true;
}

LogicalResult verifyStaticShapes(Operation *op) {
  if (llvm::all_of(op->getOperandTypes(), isUsable) && llvm::all_of(op->getResultTypes(), isUsable))
    return success();
  return op->emitOpError(
      "operands and results must have static shapes of 1 to 2147483647 elements");
}

LogicalResult verifyConstant(Operation *op, Value value, StringRef what) {
  Operation *producer = value.getDefiningOp();
  if (producer && producer->hasTrait<OpTrait::ConstantLike>())
    return success();
  return op->emitOpError() << what << " must be a constant";
}

LogicalResult verifyRank(Operation *op, Value value, StringRef what, size_t rank) {
  if (shapeOf(value).size() == rank)
    return success();
  return op->emitOpError() << what << " must have rank " << rank << ", not "
                           << shapeOf(value).size();
}

LogicalResult verifyArray(Operation *op, StringRef what, ArrayRef<int64_t> values, size_t count,
                          int64_t least) {
  // The upper end keeps products of two of them within 64 bits.
  if (values.size() == count &&
      llvm::all_of(values, [&](int64_t value) { return value >= least && value <= INT32_MAX; }))
    return success();
  return op->emitOpError() << what << " must have " << count << " elements, each from " << least
                           << " to " << INT32_MAX;
}

LogicalResult verifyInt8(Operation *op, StringRef what, int64_t value) {
  if (value >= -128 && value <= 127)
    return success();
  return op->emitOpError() << what << " must be an 8-bit value, not " << value;
}

LogicalResult verifyResultShape(Operation *op, Shape expected) {
  Shape actual = shapeOf(op->getResult(0));
  if (actual == expected)
    return success();
  return op->emitOpError() << "result has shape " << text(actual) << ", but its operands give "
                           << text(expected);
}

// Output positions of a window over a padded dimension; below 1 when the window does not fit.
int64_t windowPositions(int64_t size, int64_t before, int64_t after, int64_t kernel, int64_t stride,
                        int64_t dilation) {
  int64_t span = (kernel - 1) * dilation + 1;
  int64_t free = size + before + after - span;
  return free < 0 ? 0 : free / stride + 1;
}

// kernel, channels: the window and the result's channels.
template <typename Op>
LogicalResult verifyConvolution(Op op, ArrayRef<int64_t> window, int64_t channels) {
  Operation *o = op;
  if (failed(verifyRank(o, op.getBias(), "bias", 1)) ||
      failed(verifyArray(o, "stride", op.getStride(), 2, 1)) ||
      failed(verifyArray(o, "pad", op.getPad(), 4, 0)) ||
      failed(verifyArray(o, "dilation", op.getDilation(), 2, 1)) ||
      failed(verifyInt8(o, "input_zp", op.getInputZp())) ||
      failed(verifyInt8(o, "weight_zp", op.getWeightZp())))
    return failure();
  int64_t biases = shapeOf(op.getBias())[0];
  if (biases != 1 && biases != channels)
    return o->emitOpError() << "bias must have 1 or " << channels << " elements, not " << biases;
  Shape x = shapeOf(op.getX());
  ArrayRef<int64_t> pad = op.getPad(), stride = op.getStride(), dilation = op.getDilation();
  if (failed(verifyResultShape(
          o,
          {x[0], windowPositions(x[1], pad[0], pad[1], window[0], stride[0], dilation[0]),
           windowPositions(x[2], pad[2], pad[3], window[1], stride[1], dilation[1]), channels})) ||
      (llvm::isa<Conv2DOp>(o) && failed(verifyConstant(o, op.getWeight(), "weight"))))
    return failure();
  return verifyConstant(o, op.getBias(), "bias");
}

template <typename Op> LogicalResult verifyPool(Op op) {
  Operation *o = op;
  if (failed(verifyStaticShapes(o)) || failed(verifyRank(o, op.getX(), "x", 4)) ||
      failed(verifyArray(o, "kernel", op.getKernel(), 2, 1)) ||
      failed(verifyArray(o, "stride", op.getStride(), 2, 1)) ||
      failed(verifyArray(o, "pad", op.getPad(), 4, 0)))
    return failure();
  Shape x = shapeOf(op.getX());
  ArrayRef<int64_t> pad = op.getPad(), stride = op.getStride(), kernel = op.getKernel();
  return verifyResultShape(o,
                           {x[0], windowPositions(x[1], pad[0], pad[1], kernel[0], stride[0], 1),
                            windowPositions(x[2], pad[2], pad[3], kernel[1], stride[1], 1), x[3]});
}

LogicalResult verifyBroadcast(Operation *op, Value a, Value b) {
  Shape left = shapeOf(a), right = shapeOf(b);
  if (left.size() != right.size())
    return op->emitOpError() << "operands must have equal rank, not " << left.size() << " and "
                             << right.size();
  SmallVector<int64_t> result;
  for (auto [l, r] : llvm::zip_equal(left, right)) {
    if (l != r && l != 1 && r != 1)
      return op->emitOpError() << "operands of shapes " << text(left) << " and " << text(right)
                               << " do not broadcast";
    result.push_back(std::max(l, r));
  }
  return verifyResultShape(op, result);
}

// The range that a clamp may have for a result of this width: the signed range and the unsigned one
// together.
LogicalResult verifyClamp(Operation *op, int64_t lo, int64_t hi) {
  unsigned bits = elementOf(op->getResult(0)).getIntOrFloatBitWidth();
  int64_t least = -(int64_t(1) << (bits - 1)),
          greatest = (int64_t(1) << (bits == 32 ? 31 : bits)) - 1;
  if (lo >= least && hi <= greatest && lo <= hi)
    return success();
  return op->emitOpError() << "lo " << lo << " and hi " << hi << " must be an ascending range of "
                           << bits << "-bit values";
}

LogicalResult verifyScale(Operation *op, StringRef what, int64_t multiplier, int64_t shift) {
  if (multiplier >= 0 && multiplier <= INT32_MAX && shift >= FixedPoint::leastShift &&
      shift <= FixedPoint::greatestShift)
    return success();
  return op->emitOpError()
         << what << " needs a non-negative 32-bit multiplier and a shift from 2 to 62, not "
         << multiplier << " and " << shift;
}

} // namespace

LogicalResult Conv2DOp::verify() {
  if (failed(verifyStaticShapes(*this)) || failed(verifyRank(*this, getX(), "x", 4)) ||
      failed(verifyRank(*this, getWeight(), "weight", 4)))
    return failure();
  Shape x = shapeOf(getX()), weight = shapeOf(getWeight());
  if (weight[3] != x[3])
    return emitOpError() << "weight is for " << weight[3] << " input channels, but x has " << x[3];
  const auto pixels = static_cast<int64_t>(getPixels());
  const bool hasStride = getStride().size() == 2 && pixels > 0 && getStride()[1] % pixels == 0,
             isOneTap = weight[1] == 1 && weight[2] == 1;
  if (pixels < 1 || weight[0] % pixels != 0 ||
      (hasStride ? (pixels - 1) * (getStride()[1] / pixels) >= weight[2]
                 : !isOneTap || x[3] % pixels != 0))
    return emitOpError() << "has no " << pixels << " pixels beside each other";
  return verifyConvolution(*this, {weight[1], weight[2]}, weight[0]);
}

LogicalResult DepthwiseOp::verify() {
  if (failed(verifyStaticShapes(*this)) || failed(verifyRank(*this, getX(), "x", 4)) ||
      failed(verifyRank(*this, getWeight(), "weight", 4)))
    return failure();
  Shape x = shapeOf(getX()), weight = shapeOf(getWeight());
  if (weight[2] != x[3])
    return emitOpError() << "weight is for " << weight[2] << " input channels, but x has " << x[3];
  return verifyConvolution(*this, {weight[0], weight[1]}, weight[2] * weight[3]);
}

LogicalResult MatMulOp::verify() {
  if (failed(verifyStaticShapes(*this)) || failed(verifyRank(*this, getA(), "a", 3)) ||
      failed(verifyRank(*this, getB(), "b", 3)) || failed(verifyInt8(*this, "a_zp", getAZp())) ||
      failed(verifyInt8(*this, "b_zp", getBZp())))
    return failure();
  Shape a = shapeOf(getA()), b = shapeOf(getB());
  if (a[0] != b[0] || a[2] != b[1])
    return emitOpError() << "a of shape " << text(a) << " and b of shape " << text(b)
                         << " have no product";
  return verifyResultShape(*this, {a[0], a[1], b[2]});
}

LogicalResult MaxPoolOp::verify() { return verifyPool(*this); }

LogicalResult AvgPoolOp::verify() {
  if (failed(verifyInt8(*this, "input_zp", getInputZp())) ||
      failed(verifyInt8(*this, "output_zp", getOutputZp())))
    return failure();
  return verifyPool(*this);
}

LogicalResult SumPoolOp::verify() {
  if (failed(verifyInt8(*this, "input_zp", getInputZp())))
    return failure();
  return verifyPool(*this);
}

LogicalResult RescaleOp::verify() {
  if (failed(verifyStaticShapes(*this)) ||
      failed(verifyRank(*this, getMultiplier(), "multiplier", 1)) ||
      failed(verifyRank(*this, getShift(), "shift", 1)))
    return failure();
  if (elementOf(getX()).isInteger(1) || elementOf(getResult()).isInteger(1))
    return emitOpError("elements must have 8, 16 or 32 bits");
  Shape x = shapeOf(getX());
  int64_t multipliers = shapeOf(getMultiplier())[0], shifts = shapeOf(getShift())[0];
  int64_t channels = x.empty() ? 1 : x.back();
  if (multipliers != shifts || (multipliers != 1 && multipliers != channels))
    return emitOpError() << "multiplier and shift must both have 1 or " << channels
                         << " elements, not " << multipliers << " and " << shifts;
  if (failed(verifyClamp(*this, getLo(), getHi())) || failed(verifyResultShape(*this, x)) ||
      failed(verifyConstant(*this, getMultiplier(), "multiplier")))
    return failure();
  return verifyConstant(*this, getShift(), "shift");
}

LogicalResult TableOp::verify() {
  if (failed(verifyStaticShapes(*this)) || failed(verifyRank(*this, getTable(), "table", 1)))
    return failure();
  auto is = [&](unsigned x, unsigned table, unsigned result, int64_t entries) {
    return elementOf(getX()).isInteger(x) && elementOf(getTable()).isInteger(table) &&
           elementOf(getResult()).isInteger(result) && shapeOf(getTable())[0] == entries;
  };
  if (!is(8, 8, 8, 256) && !is(16, 16, 32, 513))
    return emitOpError(
        "must map i8 through 256 entries of i8 to i8, or i16 through 513 entries of i16 to i32");
  if (failed(verifyResultShape(*this, shapeOf(getX()))))
    return failure();
  return verifyConstant(*this, getTable(), "table");
}

LogicalResult BinaryOp::verify() {
  if (failed(verifyStaticShapes(*this)))
    return failure();
  if (elementOf(getA()).isInteger(1) || elementOf(getB()).isInteger(1))
    return emitOpError("elements must have 8, 16 or 32 bits");
  if (getShift() < 0 || getShift() > (infoOf(getFunction()).takesShift() ? 63 : 0))
    return emitOpError() << "shift must be 0, or at most 63 for "
                         << namesOf<BinaryFunction>(
                                [](const FunctionInfo &row) { return row.takesShift(); })
                         << ", not " << getShift();
  return verifyBroadcast(*this, getA(), getB());
}

LogicalResult UnaryOp::verify() {
  if (failed(verifyStaticShapes(*this)))
    return failure();
  return verifyResultShape(*this, shapeOf(getX()));
}

LogicalResult AddI8Op::verify() {
  if (failed(verifyStaticShapes(*this)) || failed(verifyInt8(*this, "a_zp", getAZp())) ||
      failed(verifyInt8(*this, "b_zp", getBZp())) ||
      failed(verifyInt8(*this, "output_zp", getOutputZp())) ||
      failed(verifyScale(*this, "a", getAMultiplier(), getAShift())) ||
      failed(verifyScale(*this, "b", getBMultiplier(), getBShift())) ||
      failed(verifyScale(*this, "result", getMultiplier(), getShift())) ||
      failed(verifyClamp(*this, getLo(), getHi())))
    return failure();
  return verifyBroadcast(*this, getA(), getB());
}

LogicalResult MulI8Op::verify() {
  if (failed(verifyStaticShapes(*this)) || failed(verifyInt8(*this, "a_zp", getAZp())) ||
      failed(verifyInt8(*this, "b_zp", getBZp())) ||
      failed(verifyInt8(*this, "output_zp", getOutputZp())) ||
      failed(verifyScale(*this, "result", getMultiplier(), getShift())) ||
      failed(verifyClamp(*this, getLo(), getHi())))
    return failure();
  return verifyBroadcast(*this, getA(), getB());
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyStaticShapes(*this)))
    return failure();
  Type element = elementOf(getX());
  if (element != elementOf(getResult()) ||
      !(element.isInteger(32) || (infoOf(getFunction()).isNarrow && element.isInteger(8))))
    return emitOpError() << "elements must have 32 bits (or 8 for "
                         << namesOf<ReduceFunction>(
                                [](const FunctionInfo &row) { return row.isNarrow; })
                         << ") in x and in the result alike";
  SmallVector<int64_t> shape(shapeOf(getX()));
  if (getAxis() < 0 || getAxis() >= static_cast<int64_t>(shape.size()))
    return emitOpError() << "axis " << getAxis() << " is not an axis of x, which has rank "
                         << shape.size();
  shape[getAxis()] = 1;
  return verifyResultShape(*this, shape);
}

LogicalResult AssembleOp::verify() {
  if (failed(verifyStaticShapes(*this)))
    return failure();
  Type element = elementOf(getResult());
  if (llvm::any_of(getSources(), [&](Value source) { return elementOf(source) != element; }))
    return emitOpError("sources and result must have one element type");
  return kernel::verifyRegions(*this);
}

LogicalResult ViewOp::verify() {
  if (failed(verifyStaticShapes(*this)))
    return failure();
  auto from = cast<RankedTensorType>(getX().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() == to.getElementType() && from.getNumElements() == to.getNumElements())
    return success();
  return emitOpError() << "cannot show " << from << " as " << to;
}

LogicalResult StridedViewOp::verify() {
  if (failed(verifyStaticShapes(*this)))
    return failure();
  auto from = cast<RankedTensorType>(getX().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (to.getRank() != 4 || getStrides().size() != 4)
    return emitOpError("shows an image: four dimensions, four strides");
  __int128 least = static_cast<int64_t>(getOffset()), greatest = least;
  for (auto [size, stride] : llvm::zip_equal(to.getShape(), getStrides()))
    (stride < 0 ? least : greatest) += static_cast<__int128>(size - 1) * stride;
  if (least < 0 || greatest >= from.getNumElements())
    return emitOpError() << "leaves its source of " << from.getNumElements() << " elements";
  for (OpOperand &use : getResult().getUses())
    if (!llvm::isa<Conv2DOp, DepthwiseOp, MaxPoolOp, AvgPoolOp, SumPoolOp>(use.getOwner()) ||
        use.getOperandNumber() != 0)
      return emitOpError() << "is read by '" << use.getOwner()->getName()
                           << "', which takes no strided image";
  return success();
}

LogicalResult GroupOp::verify() {
  Block &body = getBody().front();
  if (body.empty() || !llvm::isa<YieldOp>(body.back()) || body.getOperations().size() < 2)
    return emitOpError("must hold at least one operation and end with kernel.yield");
  for (Operation &op : body) {
    if (op.getDialect() != (*this)->getDialect() || llvm::isa<GroupOp, ViewOp, StridedViewOp>(op))
      return emitOpError() << "cannot hold '" << op.getName() << "'";
    if (op.getNumResults() == 1 && op.use_empty())
      return emitOpError() << "holds '" << op.getName() << "', which nothing reads";
  }
  return success();
}

LogicalResult YieldOp::verify() {
  Type expected = cast<GroupOp>((*this)->getParentOp()).getResult().getType();
  if (getValue().getType() == expected)
    return success();
  return emitOpError() << "gives " << getValue().getType() << " to a group of " << expected;
}

} // namespace tilewright::kernel
