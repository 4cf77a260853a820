// Constants of a TOSA module: operands that must be known, and data movement of constants at
// compile time.
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

// The elements of a tosa.const; null when the value is something else.
mlir::DenseElementsAttr constantElements(mlir::Value value);

// The elements of a tosa.const or tosa.const_shape, sign-extended (i1: 0 or 1); nothing when the
// value is something else.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

// A tosa.const of one integer for each value, reusing nothing: equal constants are merged at
// emission.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location location,
                           mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);

// The result of moving `regions` of constants, with `fill` elsewhere; null when a source is no
// constant, or when it or the result exceeds the cap of 16 MiB.
mlir::DenseElementsAttr foldAssemble(mlir::ValueRange sources,
                                     llvm::ArrayRef<kernel::Region> regions,
                                     std::optional<int64_t> fill, mlir::RankedTensorType type);

} // namespace tilewright
