// Products one behind the other, with what is between them row by row, as blocks of rows.
//
// A matrix product makes [batches, rows, columns]; operators on elements and reductions of rows
// follow, and another product whose rows these are (attention). No row needs another one. Made one
// block of rows after the other, what one operator hands on to the next stays in the cache, and
// never stands as a whole.
#pragma once

#include "kernels.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::float_kernels {

// Whether an element of the result depends on the operands' elements at its place alone, but for
// broadcasts.
bool isElementwise(mlir::Operation *op);

// Of an operator of such a sequence.
struct RowBlock {
  Blocks blocks;       // without steps
  mlir::Value columns; // of a product: its second operand, a batch of it for each block
  Blocks blocksOf(const std::vector<mlir::Value> &operands) const;
};

struct RowBlocks {
  llvm::DenseMap<mlir::Operation *, RowBlock> ofOperators;
  std::vector<mlir::Operation *> order; // all but constants, those of a sequence side by side
};

// `whole`: values that must stand as a whole.
RowBlocks findRowBlocks(mlir::func::FuncOp main, const llvm::DenseSet<mlir::Value> &whole);

// What a call of one block takes of a value of this type.
mlir::RankedTensorType partOf(mlir::RankedTensorType type, const Blocks &blocks, Blocks::Step step);

} // namespace tilewright::float_kernels
