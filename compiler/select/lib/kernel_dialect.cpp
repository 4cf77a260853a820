#include "tilewright/compiler/kernel_dialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "tilewright/compiler/KernelDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tilewright/compiler/KernelOps.cpp.inc"

namespace tilewright::kernel {

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tilewright/compiler/KernelOps.cpp.inc"
      >();
}

} // namespace tilewright::kernel
