#include "tilewright/compiler/select/kernel_dialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "tilewright/compiler/select/KernelDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tilewright/compiler/select/KernelOps.cpp.inc"

namespace tilewright::kernel {

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tilewright/compiler/select/KernelOps.cpp.inc"
      >();
}

mlir::Value memoryOf(mlir::Value value) {
  while (mlir::Operation *view = value.getDefiningOp()) {
    if (!llvm::isa<ViewOp, StridedViewOp>(view))
      break;
    value = view->getOperand(0);
  }
  return value;
}

} // namespace tilewright::kernel
