// The pass `graph-layout`.
//
// 1. Transposes sink towards the results; where two meet they merge, mostly to nothing. Constants
// on the way are transposed.
// 2. What is left above the first convolution moves up to the arguments.
// 3. Transposes that move no data become reshapes. Not earlier: in step 1 they still meet others of
// their kind.
#include "patterns.h"
#include "tilewright/compiler/graph/graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {

namespace {

class GraphLayoutPass
    : public mlir::PassWrapper<GraphLayoutPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GraphLayoutPass)

  llvm::StringRef getArgument() const override { return "graph-layout"; }
  llvm::StringRef getDescription() const override {
    return "Move transposes until they cancel or reach the graph's border";
  }

  void runOnOperation() override {
    for (auto add : {addTransposeSinking, addTransposeHoisting, addTransposeToReshape}) {
      mlir::RewritePatternSet patterns(&getContext());
      add(patterns);
      addConstantFolding(patterns, FoldOptions().sizeCap);
      addSimplifications(patterns);
      mlir::FrozenRewritePatternSet frozen(std::move(patterns));
      for (auto function : getOperation().getOps<mlir::func::FuncOp>())
        if (mlir::failed(mlir::applyPatternsGreedily(function, frozen)))
          return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createGraphLayoutPass() { return std::make_unique<GraphLayoutPass>(); }

void registerGraphPasses() {
  mlir::registerPass([] { return createWideDecomposePass(); });
  mlir::registerPass([] { return createGraphFoldPass(); });
  mlir::registerPass([] { return createGraphLayoutPass(); });
  mlir::registerPass([] { return createGraphDecomposePass(); });
  mlir::registerPass([] { return createIntegerDecomposePass(); });
}

} // namespace tilewright
