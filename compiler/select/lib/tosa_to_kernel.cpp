// `tosa-to-kernel`:
//  1. The module is checked (checkTosa), and constants in resources become dense attributes.
//  2. In program order, each TOSA operator becomes one kernel operation, a view, or a constant;
//  tosa.const stays.
//  3. Each result of @main gets memory of its own: an argument, a constant or a tensor that is a
//  result already is copied.
//  4. Constants that nothing reads any more (zero points, shapes) go.
#include "constants.h"
#include "select.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/select.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

Selected unsupported(Operation *op, const Twine &reason) {
  op->emitOpError() << "has no kernel form: " << reason;
  return nullptr;
}

std::string elementName(Value value) {
  std::string out;
  llvm::raw_string_ostream(out) << cast<ShapedType>(value.getType()).getElementType();
  return out;
}

bool hasElement(Value value, unsigned bits) {
  return cast<ShapedType>(value.getType()).getElementType().isSignlessInteger(bits);
}

namespace {

bool staysConstant(Operation &op) { return llvm::isa<tosa::ConstOp, tosa::ConstShapeOp>(op); }

Selected select(Operation *op, OpBuilder &builder) {
  using namespace tosa;
  return llvm::TypeSwitch<Operation *, Selected>(op)
      .Case<Conv2DOp, DepthwiseConv2DOp>([&](auto o) { return selectConvolution(o, builder); })
      .Case<MatMulOp>([&](auto o) { return selectMatMul(o, builder); })
      .Case<MaxPool2dOp, AvgPool2dOp>([&](auto o) { return selectPool(o, builder); })
      .Case<RescaleOp>([&](auto o) { return selectRescale(o, builder); })
      .Case<ClampOp>([&](auto o) { return selectClamp(o, builder); })
      .Case<CastOp>([&](auto o) { return selectCast(o, builder); })
      .Case<TableOp>([&](auto o) { return selectTable(o, builder); })
      .Case<NegateOp>([&](auto o) { return selectNegate(o, builder); })
      .Case<PadOp>([&](auto o) { return selectPad(o, builder); })
      .Case<ConcatOp>([&](auto o) { return selectConcat(o, builder); })
      .Case<SliceOp>([&](auto o) { return selectSlice(o, builder); })
      .Case<TransposeOp>([&](auto o) { return selectTranspose(o, builder); })
      .Case<TileOp>([&](auto o) { return selectTile(o, builder); })
      .Case<ReverseOp>([&](auto o) { return selectReverse(o, builder); })
      .Case<ReshapeOp>([&](auto o) { return selectReshape(o, builder); })
      .Case<ResizeOp>([&](auto o) { return selectResize(o, builder); })
      .Case<GatherOp>([&](auto o) { return selectGather(o, builder); })
      .Case<IdentityOp>([&](auto o) { return o.getInput1(); })
      .Default([&](Operation *o) { return selectFunction(o, builder); });
}

void copySharedResults(func::ReturnOp end) {
  OpBuilder builder(end);
  llvm::DenseSet<Value> taken;
  for (OpOperand &result : end->getOpOperands()) {
    Value memory = kernel::memoryOf(result.get());
    bool isComputed = memory.getDefiningOp() && !staysConstant(*memory.getDefiningOp());
    if (!isComputed || !taken.insert(memory).second)
      result.set(createCopy(result.get(), memory.getLoc(), builder));
  }
}

class TosaToKernel : public PassWrapper<TosaToKernel, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TosaToKernel)
  StringRef getArgument() const override { return "tosa-to-kernel"; }
  StringRef getDescription() const override {
    return "Select one kernel operation for each TOSA operator";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<kernel::KernelDialect, tosa::TosaDialect>();
  }

  void runOnOperation() override {
    if (failed(checkTosa(getOperation())))
      return signalPassFailure();
    auto main = *getOperation().getOps<func::FuncOp>().begin();
    makeConstantsDense(main.getBody().front());
    if (failed(selectBlock(main.getBody().front())))
      signalPassFailure();
  }

private:
  static LogicalResult selectBlock(Block &body) {
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
      if (staysConstant(op))
        continue;
      OpBuilder builder(&op);
      Value selected = select(&op, builder);
      if (!selected)
        return failure();
      op.getResult(0).replaceAllUsesWith(selected);
      op.erase();
    }
    copySharedResults(cast<func::ReturnOp>(body.getTerminator()));
    for (Operation &op : llvm::make_early_inc_range(body))
      if (staysConstant(op) && op.use_empty())
        op.erase();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createTosaToKernelPass() { return std::make_unique<TosaToKernel>(); }

} // namespace tilewright
