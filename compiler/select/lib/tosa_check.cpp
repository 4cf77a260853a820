// `tosa-check`: a module that selection can rely on, or one diagnostic. The module holds one
// function @main of TOSA operators on static integer tensors, and each operator keeps the rules of
// TOSA 1.0 (ERROR_IF and the level 8K) that MLIR's own verifier does not check.
#include "check.h"
#include "tilewright/compiler/select/select.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

static LogicalResult checkOperator(Operation *op) {
  using namespace tosa;
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()),
                                      llvm::to_vector(op->getResultTypes())))
    if (!llvm::isa<shapeType>(type) && failed(checkTensor(op, type)))
      return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ConstOp>([](auto o) { return checkConstant(o); })
      .Case<Conv2DOp, DepthwiseConv2DOp, MaxPool2dOp, AvgPool2dOp>(
          [](auto o) { return checkWindow(o); })
      .Case<RescaleOp>([](auto o) { return checkRescale(o); })
      .Case<MulOp>([](auto o) { return checkMul(o); })
      .Case<TableOp>([](auto o) { return checkTable(o); })
      .Case<SliceOp>([](auto o) { return checkSlice(o); })
      .Case<PadOp>([](auto o) { return checkPad(o); })
      .Case<TileOp>([](auto o) { return checkTile(o); })
      .Case<ResizeOp>([](auto o) { return checkResize(o); })
      .Case<GatherOp>([](auto o) { return checkGather(o); })
      .Case<IdentityOp, ReverseOp>([](auto o) { return checkSameType(o); })
      .Default([](Operation *) { return success(); });
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError("must have a body of one block");
  for (Type type : llvm::concat<Type>(llvm::to_vector(function.getArgumentTypes()),
                                      llvm::to_vector(function.getResultTypes())))
    if (failed(checkTensor(function, type)))
      return failure();
  for (Operation &op : function.getBody().front()) {
    if (llvm::isa<func::ReturnOp>(op))
      continue;
    if (!llvm::isa<tosa::TosaDialect>(op.getDialect()))
      return op.emitOpError("is no TOSA operator");
    if (failed(checkOperator(&op)))
      return failure();
  }
  return success();
}

LogicalResult checkTosa(ModuleOp module) {
  func::FuncOp main;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.getName() != "main")
      return op.emitOpError(
          "cannot stand in a model: the module must hold one function @main and nothing else");
    main = function;
  }
  if (!main)
    return module.emitOpError("has no function @main");
  return checkFunction(main);
}

namespace {

class TosaCheck : public PassWrapper<TosaCheck, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TosaCheck)
  StringRef getArgument() const override { return "tosa-check"; }
  StringRef getDescription() const override {
    return "Check what TOSA 1.0 asks of an integer model and MLIR does not verify";
  }
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkTosa(getOperation())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createTosaCheckPass() { return std::make_unique<TosaCheck>(); }

} // namespace tilewright
