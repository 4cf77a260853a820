// The kernel dialect (KernelOps.td).
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilewright/compiler/select/kernel_functions.h"

#include "tilewright/compiler/select/KernelDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilewright/compiler/select/KernelAttributes.h.inc"

#define GET_OP_CLASSES
#include "tilewright/compiler/select/KernelOps.h.inc"

namespace tilewright::kernel {

// The value in whose memory the elements of a value stand: views have none of their own.
mlir::Value memoryOf(mlir::Value value);

} // namespace tilewright::kernel
