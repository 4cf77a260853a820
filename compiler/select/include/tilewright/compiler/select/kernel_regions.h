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

int64_t elementsOf(const Region &region); // that it moves

// C-order strides of a dense tensor, in elements.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

// The same moves with as few dimensions as possible: those of size 1 go, and two that run on as one
// become one. At least one dimension stays.
Region coalesce(const Region &region);

// A digit of a linear index: index / stride % size. Of several, each stride is that of the next one
// times its size; the last one's is 1.
struct Digit {
  int64_t size, stride;
};

// A region of which each step along a dimension changes one digit of the source's index, by
// `steps`; of one that repeats the source, none does.
struct RegionInDigits {
  Region region;
  llvm::SmallVector<int> digits; // by dimension; -1: none
  llvm::SmallVector<int64_t> steps;
  llvm::SmallVector<int64_t> starts; // by digit: that of the first element
};
// The same moves, dimensions divided where need be. Failure where digits carry, or a step is
// backwards.
mlir::FailureOr<RegionInDigits> inDigits(const Region &region, llvm::ArrayRef<Digit> digits);
// Those of a dense tensor.
llvm::SmallVector<Digit> digitsOf(llvm::ArrayRef<int64_t> shape);

// What moves straight from the source of `first`, which makes all of a tensor, what `second` takes
// from that tensor. Failure where no one region does.
mlir::FailureOr<Region> compose(const Region &first, const Region &second);

mlir::DictionaryAttr encode(mlir::MLIRContext *context, const Region &region);
// Failure when a field is missing, has another type, or the lists differ in length.
mlir::FailureOr<Region> decode(mlir::Attribute attribute);

// Every region inside its source and the result; they cover the whole result unless there is a fill
// value.
mlir::LogicalResult verifyRegions(AssembleOp op);

} // namespace tilewright::kernel
