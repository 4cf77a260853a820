// Regions of kernel.assemble: strided boxes of elements that move from a source to the result.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace tilewright::kernel {

class AssembleOp;

// Element (i0,i1,...) of the box moves from sourceOffset + sum(i*sourceStrides) to resultOffset +
// sum(i*resultStrides).
struct Region {
  int64_t source = 0; // operand number
  int64_t sourceOffset = 0;
  int64_t resultOffset = 0;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> sourceStrides;
  llvm::SmallVector<int64_t> resultStrides;
};

// C-order strides of a dense tensor, in elements.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

// The same moves with as few dimensions as possible: those of size 1 go, and two that run on as one
// become one. At least one dimension stays.
Region coalesce(const Region &region);

mlir::DictionaryAttr encode(mlir::MLIRContext *context, const Region &region);
// Failure when a field is missing, has another type, or the lists differ in length.
mlir::FailureOr<Region> decode(mlir::Attribute attribute);

// Every region inside its source and the result; they cover the whole result unless there is a fill
// value.
mlir::LogicalResult verifyRegions(AssembleOp op);

} // namespace tilewright::kernel
