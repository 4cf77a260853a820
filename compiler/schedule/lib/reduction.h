// A reduction along an axis, with the element-wise operations that its instruction computes too, on
// tiles [row][element][column] of which the elements become one.
//
// Where a row has one column, one lane would be at work: elements are then reduced to as many
// partial results as lanes can make at once, and those again, as long as that takes less time; or
// the lanes are joined, of the row itself or of partial results.
#pragma once

#include "lowering.h"

namespace tilewright {

class Reduction {
public:
  Reduction(LoweringContext &context, Steps &steps, kernel::GroupOp group);

  // What comes from outside the group, once for each memory that it is read from.
  struct Read {
    mlir::Value value;
    isa::Space space;
    Repeats repeats;
  };
  llvm::ArrayRef<Read> reads() const { return reads_; }
  isa::Space resultSpace() const { return pattern_.result.space; }
  int64_t rows() const { return outer_; }
  int64_t length() const { return length_; }
  int64_t columns() const { return inner_; }
  // Bytes of a memory for an element of the result: operands and it.
  int64_t bytesPerElement(isa::Space space) const;

  // `tiles` by read; strides from row to row (s1), from element to element (s0), 0 where it
  // repeats. Returns the result, [row][column].
  Tile run(std::vector<Task> &out, int64_t rows, int64_t columns, llvm::ArrayRef<Tile> tiles);

private:
  // `length` elements of each row become `width` side by side, each of elements that are `width`
  // apart, and behind these a copy of each element that is left over.
  struct Pass {
    int64_t length, width;
    bool joinsLanes = false; // all become one
    int64_t left() const { return length % width; }
    int64_t results() const { return width + left(); }
  };
  std::vector<Pass> passesOf(int64_t rows, int64_t columns, llvm::ArrayRef<Tile> tiles) const;
  void emit(std::vector<Task> &out, const patterns::Match &match, const Extent &extent,
            int64_t length, llvm::ArrayRef<Tile> tiles, Tile result);
  void emitJoin(std::vector<Task> &out, int64_t rows, int64_t length, llvm::ArrayRef<Tile> tiles,
                Tile result);
  Tile newTile(int64_t rows, int64_t columns);

  LoweringContext &context_;
  Steps &steps_;
  const ReductionCover &cover_;
  const patterns::Pattern &pattern_;
  const patterns::Match *again_; // reduces partial results; null: nothing does
  const patterns::Match *join_;  // reduces rows of them; null: nothing does
  llvm::SmallVector<Read> reads_;
  llvm::SmallVector<size_t> readOf_; // by Pattern::reads
  int64_t outer_ = 1, length_ = 1, inner_ = 1;
};

} // namespace tilewright
