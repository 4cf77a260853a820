#include "fuse.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/select.h"
#include "tilewright/compiler/select/selection.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

namespace tilewright {
namespace {

class KernelFuse : public PassWrapper<KernelFuse, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelFuse)
  explicit KernelFuse(std::shared_ptr<Selection> selection) : selection_(std::move(selection)) {}
  StringRef getArgument() const override { return "kernel-fuse"; }
  StringRef getDescription() const override {
    return "Fuse kernel operations and group those that share a loop over tiles";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<kernel::KernelDialect>();
  }

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      for (Block &body : function.getBody()) {
        if (failed(verifySelected(body)))
          return signalPassFailure();
        foldClamps(body);
        fuseChannelProducts(body, selection_.get());
        fuseArithmetic(body, selection_.get());
        fuseSums(body, selection_.get());
        removeUnused(body);
        if (selection_) {
          fuseReductions(body, *selection_); // before what it takes is written otherwise
          legalize(body, *selection_);
          fuseReductions(body, *selection_);
          removeUnused(body);
        }
        composeMoves(body);
        transposeProducts(body);
        removeUnused(body);
        viewStrided(body);
        if (selection_) {
          transposeOnArray(body, *selection_);
          orderChannels(body, *selection_);
        }
        removeUnused(body);
        formGroups(body, selection_.get());
        if (selection_)
          putPixelsTogether(body, *selection_);
        removeUnused(body);
      }
    }
  }

private:
  // The pass reads what `tosa-to-kernel` writes.
  static LogicalResult verifySelected(Block &body) {
    for (Operation &op : body)
      if (!llvm::isa<kernel::KernelDialect>(op.getDialect()) &&
          !llvm::isa<tosa::ConstOp, func::ReturnOp>(op))
        return op.emitOpError("is no kernel operation: run tosa-to-kernel first");
    return success();
  }

  // Backwards, so that what only an unused operation read goes too.
  static void removeUnused(Block &body) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  std::shared_ptr<Selection> selection_; // null: every instruction is there
};

} // namespace

std::unique_ptr<Pass> createKernelFusePass(std::shared_ptr<Selection> selection) {
  return std::make_unique<KernelFuse>(std::move(selection));
}

} // namespace tilewright
