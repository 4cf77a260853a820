// The pass `graph-fold`.
#include "patterns.h"
#include "tilewright/compiler/graph/graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {

namespace {

class GraphFoldPass : public mlir::PassWrapper<GraphFoldPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GraphFoldPass)

  GraphFoldPass() = default;
  explicit GraphFoldPass(FoldOptions options) { sizeCap = options.sizeCap; }
  GraphFoldPass(const GraphFoldPass &other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const override { return "graph-fold"; }
  llvm::StringRef getDescription() const override {
    return "Fold constants, scales, offsets and pads into the convolutions beside them; compute "
           "what slices keep";
  }

  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    addConstantFolding(patterns, sizeCap);
    addSimplifications(patterns);
    addConvolutionFolding(patterns);
    addImageFolding(patterns);
    addMatmulFolding(patterns);
    addChannelGroups(patterns);
    addReshapeSinking(patterns);
    mlir::FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      do
        if (mlir::failed(mlir::applyPatternsGreedily(function, frozen)))
          return signalPassFailure();
      while (hoistSlices(function));
  }

private:
  Option<int64_t> sizeCap{
      *this, "size-cap",
      llvm::cl::desc("Largest constant, in bytes, that folding makes of smaller ones"),
      llvm::cl::init(FoldOptions().sizeCap)};
};

} // namespace

std::unique_ptr<mlir::Pass> createGraphFoldPass(FoldOptions options) {
  return std::make_unique<GraphFoldPass>(options);
}

} // namespace tilewright
