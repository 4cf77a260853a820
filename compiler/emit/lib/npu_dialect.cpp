#include "tilewright/compiler/emit/npu_dialect.h"

#include "mlir/IR/Builders.h"

#include "tilewright/compiler/emit/NpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tilewright/compiler/emit/NpuOps.cpp.inc"

namespace tilewright::npu {

void NpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tilewright/compiler/emit/NpuOps.cpp.inc"
      >();
}

} // namespace tilewright::npu
