#include "loops.h"

#include "register_blocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright::float_kernels {

namespace {

class BufferizeKernelPass : public PassWrapper<BufferizeKernelPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BufferizeKernelPass)

  StringRef getArgument() const override { return "float-bufferize-kernel"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<bufferization::BufferizationDialect, linalg::LinalgDialect,
                    memref::MemRefDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(bufferization::eliminateEmptyTensors(rewriter, getOperation())))
      return signalPassFailure();
    bufferization::OneShotBufferizationOptions options;
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(getOperation(), options, state)))
      return signalPassFailure();
    getOperation().walk([&](memref::AllocOp alloc) {
      rewriter.setInsertionPoint(alloc->getBlock()->getTerminator());
      memref::DeallocOp::create(rewriter, alloc.getLoc(), alloc);
    });
  }
};

// The parallel loop of a reduction that runs over the output's last (non-unit) dimension.
std::optional<unsigned> innermostLoop(linalg::GenericOp op) {
  AffineMap output = op.getIndexingMapsArray().back();
  auto type = cast<ShapedType>(op.getOutputs().back().getType());
  std::optional<unsigned> innermost;
  for (auto [size, result] : llvm::zip(type.getShape(), output.getResults()))
    if (auto dimension = dyn_cast<AffineDimExpr>(result); dimension && size != 1)
      innermost = dimension.getPosition();
  return op.getNumReductionLoops() > 0 ? innermost : std::nullopt;
}

// The order of loops with that one inside the reductions.
SmallVector<unsigned> orderFor(linalg::GenericOp op, unsigned innermost) {
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != innermost)
      order.push_back(loop);
  order.push_back(innermost);
  return order;
}

class LoopsPass : public PassWrapper<LoopsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LoopsPass)

  explicit LoopsPass(const BlockShape &blocks) : blocks_(blocks) {}

  StringRef getArgument() const override { return "float-loops"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, linalg::LinalgDialect, memref::MemRefDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // A copy between layouts would call MLIR's C runtime library.
    getOperation().walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    });
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      if (failed(toLoops(rewriter, op)))
        return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }

private:
  LogicalResult toLoops(IRRewriter &rewriter, linalg::LinalgOp op) {
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return failure();
      generic = *made;
    }
    std::optional<unsigned> innermost = innermostLoop(generic);
    bool inBlocks = innermost && succeeded(lowerInBlocks(rewriter, generic, *innermost, blocks_));
    if (!inBlocks && innermost) {
      FailureOr<linalg::GenericOp> interchanged =
          linalg::interchangeGenericOp(rewriter, generic, orderFor(generic, *innermost));
      if (failed(interchanged))
        return failure();
      generic = *interchanged;
    }
    rewriter.setInsertionPoint(generic);
    if (!inBlocks && failed(linalg::linalgOpToLoops(rewriter, generic)))
      return failure();
    rewriter.eraseOp(generic);
    return success();
  }

  BlockShape blocks_;
};

} // namespace

std::unique_ptr<Pass> createBufferizeKernelPass() {
  return std::make_unique<BufferizeKernelPass>();
}
std::unique_ptr<Pass> createLoopsPass(const BlockShape &blocks) {
  return std::make_unique<LoopsPass>(blocks);
}

} // namespace tilewright::float_kernels
