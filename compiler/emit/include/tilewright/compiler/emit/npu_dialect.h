// The npu dialect (NpuOps.td).
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "tilewright/compiler/emit/NpuDialect.h.inc"

#define GET_OP_CLASSES
#include "tilewright/compiler/emit/NpuOps.h.inc"
