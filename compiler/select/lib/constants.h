// Data movement of constants at compile time.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "tilewright/compiler/select/kernel_regions.h"

#include <optional>

namespace tilewright {

// Every tosa.const of the block that refers to a resource (checked before) becomes dense elements.
void makeConstantsDense(mlir::Block &body);

// The result of moving `regions` of constants, with `fill` elsewhere; null when a source is no
// constant, or when it or the result exceeds the cap of 16 MiB.
mlir::DenseElementsAttr foldAssemble(mlir::ValueRange sources,
                                     llvm::ArrayRef<kernel::Region> regions,
                                     std::optional<int64_t> fill, mlir::RankedTensorType type);

} // namespace tilewright
