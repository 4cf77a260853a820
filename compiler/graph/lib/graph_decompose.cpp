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
    if (!llvm::isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(op))
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
