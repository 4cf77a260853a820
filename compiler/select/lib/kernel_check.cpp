// What the scheduler relies on in a module of kernels beyond what each operation's verifier
// checks.
//  1. The module holds one function @main of one block: kernel.groups, views, dense
//  constants and the return.
//  2. What is shown or returned stands in memory: a view is of an argument or a group, a result of
//  a group, each result of its own.
//  3. A group is an anchor and then element-wise operations of its shape, each but the last read by
//  one that follows; or a move; or element-wise operations and then a reduction. Values within it
//  are signed.
//  4. Windows are within TOSA's level 8K, zero points within 16 bits.
#include "check.h"
#include "fuse.h"
#include "scale.h"
#include "tilewright/compiler/select/scalar_function.h"
#include "tilewright/compiler/select/select.h"
#include "tilewright/compiler/tosa/limits.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tilewright {

static constexpr int64_t largestZeroPoint = 65535; // of unsigned 16-bit elements

static LogicalResult checkNumbers(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName().strref();
    auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    for (int64_t value : list ? list.asArrayRef() : ArrayRef<int64_t>())
      if (value > maxKernel)
        return op->emitOpError() << name << " must be at most " << maxKernel << ", not " << value;
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    bool isZeroPoint = name.ends_with("_zp");
    if (number && isZeroPoint && number.getValue().abs().ugt(largestZeroPoint))
      return op->emitOpError() << name << " must be at most " << largestZeroPoint << ", not "
                               << number.getValue().getSExtValue();
  }
  // The window of a convolution is its weights': [OC,KH,KW,IC], or [KH,KW,C,M].
  size_t first = llvm::isa<kernel::Conv2DOp>(op) ? 1 : 0;
  if (llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp>(op))
    for (int64_t size : shapeOf(op->getOperand(1)).slice(first, 2))
      if (size > maxKernel)
        return op->emitOpError() << "the window must be at most " << maxKernel
                                 << " wide and high, not " << size;
  return success();
}

static LogicalResult checkGroup(kernel::GroupOp group) {
  Operation *before = nullptr;
  for (Operation &op : group.getBody().front()) {
    if (failed(checkNumbers(&op)))
      return failure();
    if (!before) {
      before = &op;
      continue;
    }
    Value value = before->getResult(0);
    if (!hasOneReader(value))
      return before->emitOpError("must have one reader within its group");
    if (llvm::isa<kernel::YieldOp>(op))
      continue;
    // A reduction may end a group of nothing but element-wise operations.
    if (llvm::isa<kernel::ReduceOp>(op) && hasScalarFunction(before) &&
        hasScalarFunction(&group.getBody().front().front()) &&
        llvm::isa<kernel::YieldOp>(op.getNextNode()) && op.getOperand(0) == value) {
      before = &op;
      continue;
    }
    if (!hasScalarFunction(&op))
      return op.emitOpError("is not element-wise and must begin a group");
    if (llvm::isa<kernel::AssembleOp, kernel::ReduceOp>(before))
      return before->emitOpError("must be the last operation of its group");
    if (shapeOf(value) != shapeOf(op.getResult(0)))
      return op.emitOpError("must have the shape of the operation that it continues");
    auto rescale = dyn_cast<kernel::RescaleOp>(op);
    auto given = dyn_cast<kernel::RescaleOp>(*before);
    if ((rescale && rescale.getInputUnsigned()) || (given && !givesSigned(given)))
      return op.emitOpError("cannot read unsigned elements within a group");
    before = &op;
  }
  return success();
}

static LogicalResult checkReturn(func::ReturnOp end) {
  llvm::DenseSet<Value> taken;
  for (Value value : end.getOperands()) {
    Value memory = kernel::memoryOf(value);
    if (!memory.getDefiningOp<kernel::GroupOp>())
      return end.emitOpError("every result must be that of a kernel.group");
    if (!taken.insert(memory).second)
      return end.emitOpError("returns one kernel.group twice");
  }
  return success();
}

static LogicalResult checkOperation(Operation *op) {
  if (auto group = dyn_cast<kernel::GroupOp>(op))
    return checkGroup(group);
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return checkReturn(end);
  if (llvm::isa<kernel::ViewOp, kernel::StridedViewOp>(op)) {
    if (kernel::memoryOf(op->getOperand(0)).getDefiningOp<tosa::ConstOp>())
      return op->emitOpError("cannot show a constant: give the constant that shape");
    return success();
  }
  auto constant = dyn_cast<tosa::ConstOp>(op);
  if (!constant)
    return op->emitOpError(llvm::isa<kernel::KernelDialect>(op->getDialect())
                               ? "must stand in a kernel.group: run kernel-fuse first"
                               : "is no kernel operation: run tosa-to-kernel first");
  if (failed(checkTensor(op, constant.getType())))
    return failure();
  if (!llvm::isa<DenseIntElementsAttr>(constant.getValues()))
    return op->emitOpError("must hold dense elements");
  return success();
}

LogicalResult checkKernels(ModuleOp module) {
  func::FuncOp main;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || main || function.getName() != "main")
      return op.emitOpError(
          "cannot stand in a model: the module must hold one function @main and nothing else");
    main = function;
  }
  if (!main)
    return module.emitError("the module has no function @main");
  if (main.isExternal() || !main.getBody().hasOneBlock())
    return main.emitOpError("must have a body of one block");
  if (main.getNumResults() == 0)
    return main.emitOpError("must have results");
  for (Type type : llvm::concat<const Type>(main.getArgumentTypes(), main.getResultTypes()))
    if (failed(checkTensor(main, type)))
      return failure();
  for (Operation &op : main.getBody().front())
    if (failed(checkOperation(&op)))
      return failure();
  return success();
}

} // namespace tilewright
