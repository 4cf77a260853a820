// The pass `graph-decompose`.
//
// A transposed convolution becomes a convolution by MLIR's own patterns. With strides that one has
// an output channel for each channel and position within a stride; its result is brought into order
// and cut. MLIR adds the bias behind that, and what follows the operator stands behind that too.
// Both are moved back to the convolution, where they cost nothing and the quantizer sees them:
//
//   1. the bias, once for each position, becomes the convolution's;
//   2. a clamp that alone reads the result reads the convolution's instead.
//
// What a convolution gives for a pixel goes to as many rows as the stride has. Where so little of
// it goes to one row that a transfer of it costs more than its bytes, there is a convolution for
// each of these rows instead: it gives the row as it is, and reads the input once more.
//
// Integer convolutions of three dimensions become such of two (conv3d.h).
#include "conv3d.h"
#include "dims.h"
#include "patterns.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;

// What MLIR decomposes and later passes serve: sums of float32 or of 32 bits.
bool isDecomposed(tosa::TransposeConv2DOp op) {
  mlir::Type element = elementOf(op.getOutput());
  return element.isF32() || element.isInteger(32);
}

// The convolution whose result `value` is, brought into another order; null: something else.
tosa::Conv2DOp convolutionBehind(mlir::Value value) {
  while (value.hasOneUse()) {
    mlir::Operation *op = value.getDefiningOp();
    if (auto conv = llvm::dyn_cast_or_null<tosa::Conv2DOp>(op))
      return conv;
    if (!llvm::isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ClampOp>(
            op))
      return nullptr;
    value = op->getOperand(0);
  }
  return nullptr;
}

// A constant's elements, repeated until there are `count`; null: it is no constant.
mlir::DenseElementsAttr repeated(mlir::Value value, int64_t count) {
  mlir::DenseElementsAttr elements = constantElements(value);
  if (!elements)
    return {};
  llvm::SmallVector<mlir::Attribute> all;
  while (static_cast<int64_t>(all.size()) < count)
    llvm::append_range(all, elements.getValues<mlir::Attribute>());
  return mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get({count}, elements.getElementType()), all);
}

// Step 1. MLIR gives the convolution a bias of zeros.
mlir::Value moveBias(tosa::AddOp add, mlir::Value bias) {
  tosa::Conv2DOp conv = convolutionBehind(add.getInput1());
  mlir::DenseElementsAttr all =
      conv ? repeated(bias, dimsOf(conv.getOutput()).back()) : mlir::DenseElementsAttr();
  if (!all)
    return add;
  mlir::OpBuilder builder(conv);
  conv.getBiasMutable().assign(makeConstant(builder, conv.getLoc(), all));
  mlir::Value result = add.getInput1();
  add.replaceAllUsesWith(result);
  add.erase();
  return result;
}

// Step 2.
void moveClamp(mlir::Value result) {
  auto clamp = result.hasOneUse() ? llvm::dyn_cast<tosa::ClampOp>(*result.user_begin()) : nullptr;
  tosa::Conv2DOp conv = clamp ? convolutionBehind(result) : nullptr;
  if (!conv || result.getDefiningOp() == conv)
    return;
  mlir::OpBuilder builder(conv->getContext());
  builder.setInsertionPointAfter(conv);
  auto moved = llvm::cast<tosa::ClampOp>(builder.clone(*clamp));
  moved.getOutput().setType(conv.getOutput().getType());
  conv.getOutput().replaceAllUsesWith(moved.getOutput());
  moved.getInputMutable().assign(conv.getOutput());
  clamp.replaceAllUsesWith(result);
  clamp.erase();
}

void decompose(tosa::TransposeConv2DOp op, const mlir::FrozenRewritePatternSet &patterns) {
  mlir::Value bias = op.getBias();
  mlir::OpOperand &reader = *op.getOutput().use_begin();
  mlir::Operation *ops[] = {op};
  mlir::GreedyRewriteConfig config;
  config.setStrictness(mlir::GreedyRewriteStrictness::ExistingAndNewOps); // the reader stays
  (void)mlir::applyOpPatternsGreedily(ops, patterns, config);
  mlir::Value result = reader.get();
  if (auto add = result.getDefiningOp<tosa::AddOp>())
    result = moveBias(add, bias);
  moveClamp(result);
}

// The elements of slice `index` of `count` along the first dimension; null: it is no constant.
mlir::DenseElementsAttr slicedConstant(mlir::Value value, int64_t index, int64_t count) {
  mlir::DenseElementsAttr elements = constantElements(value);
  if (!elements || elements.getType().getDimSize(0) % count != 0)
    return {};
  Dims shape(elements.getType().getShape());
  shape[0] /= count;
  const int64_t size = elements.getNumElements() / count;
  llvm::SmallVector<mlir::Attribute> slice(
      llvm::make_range(elements.value_begin<mlir::Attribute>() + index * size,
                       elements.value_begin<mlir::Attribute>() + (index + 1) * size));
  return mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(shape, elements.getElementType()),
                                      slice);
}

// `transpose`: from [n, height, width, rows, columns, channels] to rows behind the height.
void splitRows(tosa::TransposeOp transpose) {
  constexpr int64_t narrow = 8, deep = 64; // elements
  const Dims from = dimsOf(transpose.getInput1());
  auto reshape = transpose.getInput1().getDefiningOp<tosa::ReshapeOp>();
  if (!reshape || from.size() != 6 || from[3] == 1 || from[4] * from[5] > narrow ||
      transpose.getPerms() != llvm::ArrayRef<int32_t>{0, 1, 3, 2, 4, 5})
    return;
  const mlir::Value given = reshape.getInput1();
  auto clamp = given.getDefiningOp<tosa::ClampOp>();
  auto conv = (clamp ? clamp.getInput() : given).getDefiningOp<tosa::Conv2DOp>();
  if (!conv || !conv.getOutput().hasOneUse() || !given.hasOneUse() || !reshape->hasOneUse() ||
      dimsOf(given) != Dims{from[0], from[1], from[2], from[3] * from[4] * from[5]} ||
      dimsOf(conv.getInput()).back() > deep)
    return;
  mlir::OpBuilder builder(transpose);
  const mlir::Location location = transpose.getLoc();
  llvm::SmallVector<mlir::Value> rows;
  for (int64_t row = 0; row < from[3]; ++row) {
    const mlir::DenseElementsAttr weights = slicedConstant(conv.getWeight(), row, from[3]),
                                  bias = slicedConstant(conv.getBias(), row, from[3]);
    if (!weights || !bias)
      return;
    auto one = llvm::cast<tosa::Conv2DOp>(builder.clone(*conv));
    Dims shape = dimsOf(conv.getOutput());
    shape.back() /= from[3];
    one.getOutput().setType(mlir::RankedTensorType::get(shape, elementOf(conv.getOutput())));
    builder.setInsertionPoint(one);
    one.getWeightMutable().assign(makeConstant(builder, conv.getLoc(), weights));
    one.getBiasMutable().assign(makeConstant(builder, conv.getLoc(), bias));
    builder.setInsertionPointAfter(one);
    mlir::Value result = one.getOutput();
    if (clamp) {
      auto own = llvm::cast<tosa::ClampOp>(builder.clone(*clamp));
      own.getOutput().setType(one.getOutput().getType());
      own.getInputMutable().assign(result);
      result = own.getOutput();
    }
    rows.push_back(
        makeReshape(builder, location, result, {from[0], from[1], 1, from[2] * from[4] * from[5]}));
  }
  auto type = mlir::RankedTensorType::get({from[0], from[1], from[3], from[2] * from[4] * from[5]},
                                          elementOf(given));
  mlir::Value all = tosa::ConcatOp::create(builder, location, type, rows, 2);
  transpose.replaceAllUsesWith(makeReshape(builder, location, all, dimsOf(transpose.getOutput())));
}

class GraphDecomposePass
    : public mlir::PassWrapper<GraphDecomposePass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GraphDecomposePass)

  llvm::StringRef getArgument() const override { return "graph-decompose"; }
  llvm::StringRef getDescription() const override {
    return "Transposed convolutions and those of three dimensions become convolutions of two";
  }

  void runOnOperation() override {
    llvm::SmallVector<tosa::TransposeConv2DOp> found;
    getOperation().walk([&](tosa::TransposeConv2DOp op) {
      if (isDecomposed(op) && !op.use_empty())
        found.push_back(op);
    });
    llvm::SmallVector<tosa::Conv3DOp> volumes;
    getOperation().walk([&](tosa::Conv3DOp op) {
      if (elementOf(op.getOutput()).isInteger(32))
        volumes.push_back(op);
    });
    if (found.empty() && volumes.empty())
      return;
    mlir::RewritePatternSet patterns(&getContext());
    tosa::populateTosaDecomposeTransposeConv(&getContext(), patterns);
    mlir::FrozenRewritePatternSet frozen(std::move(patterns));
    for (tosa::TransposeConv2DOp op : found)
      decompose(op, frozen);
    for (tosa::Conv3DOp op : volumes)
      decomposeConv3D(op);
    fold();
    llvm::SmallVector<tosa::TransposeOp> transposes;
    getOperation().walk([&](tosa::TransposeOp op) { transposes.push_back(op); });
    for (tosa::TransposeOp op : transposes)
      splitRows(op);
    fold(); // takes what nobody reads any longer
  }

private:
  // What becomes of weights that are cut up, and of pads.
  void fold() {
    mlir::RewritePatternSet patterns(&getContext());
    addConstantFolding(patterns, FoldOptions().sizeCap);
    addSimplifications(patterns);
    addConvolutionFolding(patterns);
    mlir::FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      if (mlir::failed(mlir::applyPatternsGreedily(function, frozen)))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createGraphDecomposePass() {
  return std::make_unique<GraphDecomposePass>();
}

} // namespace tilewright
