// One execution of an output-stationary contraction (tilewright/isa/stationary.h): what
// it reads in which cycle of which block, rows MAT-BLOCK and MAT-CHUNK of
// docs/microarchitecture.md.
//
//   1. Pixels are cut into blocks of as many as the array has rows.
//   2. A block goes through all taps, each in chunks of as many activations as the array has rows.
//   3. A chunk takes as many cycles as it has activations, or the block pixels, whichever are more.
//   In its first cycles it reads its activations, a pixel a cycle, and its weights, a row a cycle.
#pragma once

#include "tilewright/simulator/timing/instruction_timing.h"

#include <algorithm>

namespace tilewright::timing {

class Blocks {
public:
  // Contiguous bytes; none: no port is needed.
  struct Piece {
    int64_t address = 0, bytes = 0;
  };
  // Bytes [low, high).
  struct Reach {
    int64_t low = 0, high = 0;
  };

  Blocks() = default;
  // `addresses` by operand, in the memory's address unit.
  Blocks(const InstructionTiming &timing, const isa::Isa &isa, const isa::ScalarContext &context,
         const int64_t *addresses);

  int64_t count() const { return (pixels_ + arrayRows_ - 1) / arrayRows_; }
  int64_t rows(int64_t block) const { return std::min(arrayRows_, pixels_ - block * arrayRows_); }
  // While every piece is granted, and nothing waits for sums that came before: at least 1.
  int64_t cycles(int64_t block) const {
    return std::max<int64_t>(taps_ * tapCycles(rows(block)), 1);
  }
  Piece activationPiece(int64_t block, int64_t cycle) const;
  Piece weightPiece(int64_t block, int64_t cycle) const;
  Piece sumPiece(int64_t pixel) const;

  // Of all of it; of one block, of one tap.
  Reach activations() const;
  Reach activations(int64_t block) const;
  Reach activations(int64_t block, int64_t tap) const;
  Reach weights() const;
  Reach weights(int64_t tap) const;
  Reach sums() const;
  Reach sums(int64_t block) const;
  int64_t taps() const { return taps_; }
  // Cycles of a tap in which a block reads both activations and weights.
  int64_t bothReads(int64_t block) const;
  // Bytes that are read, of activations and of weights.
  int64_t activationBytes() const { return pixels_ * taps_ * depth_ * activationBytes_; }
  int64_t weightBytes() const { return count() * taps_ * depth_ * weightBytes_; }

private:
  struct Chunk {
    int64_t tap = 0, first = 0, length = 0; // activations
    int64_t step = 0;                       // cycle within it
  };
  Chunk chunk(int64_t block, int64_t cycle) const;
  int64_t lastChunk() const { return depth_ % arrayRows_; }
  int64_t tapCycles(int64_t rows) const {
    return depth_ - lastChunk() + (lastChunk() > 0 ? std::max(lastChunk(), rows) : 0);
  }
  // How far a nest of iterators [first, end) moves a walk: at one of its positions; over all.
  int64_t offset(const Walk &walk, size_t first, size_t end, int64_t position) const;
  Reach reach(const Walk &walk, size_t first, size_t end) const;
  Reach pixels(const Walk &walk, int64_t block) const;

  int64_t arrayRows_ = 1, pixels_ = 0, taps_ = 0, depth_ = 0;
  size_t pixelLevels_ = 0, depthLevel_ = 0; // taps are those between the column and the depth
  std::array<int64_t, isa::limits::iterators.count()> extents_{};
  Walk activation_, weight_, sum_;
  int64_t activationBytes_ = 0;            // of an element
  int64_t weightBytes_ = 0, sumBytes_ = 0; // of a row of columns
};

} // namespace tilewright::timing
