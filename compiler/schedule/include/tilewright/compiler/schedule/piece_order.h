// When the pieces of a chain's work are done: a pure problem, without IR types.
//
// 1. Pieces of a stream are done in the order in which they stand; a piece waits for those that it
// comes after.
// 2. An actor does one piece at a time; what has none takes no one's time.
// 3. Of the pieces that stand first in their streams, the one that can start first is next; of
// several, that of the stream that is preferred.
// 4. Two actors in one bank get in each other's way: the later actor's piece waits until the
// earlier actor's has ended, and the earlier actor rather does another piece. Where it does not, it
// holds up the later actor's piece.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace tilewright {

struct PieceToOrder {
  int stream = 0;
  int64_t cycles = 0;
  llvm::SmallVector<size_t, 6> after; // pieces that stand before this one
  // That the piece works in, and that its activations come from; -1: none.
  int bank = -1, source = -1;
  int64_t latency = 0; // from its end until pieces of other actors find its result
};

// When each piece starts. `actors`: of each stream; -1: none. `preference`: streams, the most
// preferred one first; empty: as they stand. Empty where the last piece cannot end before `enough`.
std::vector<int64_t> startTimes(const std::vector<PieceToOrder> &pieces,
                                const std::vector<int> &actors, std::vector<size_t> preference = {},
                                int64_t enough = INT64_MAX);
// When the last piece ends.
int64_t lastEnd(const std::vector<PieceToOrder> &pieces, const std::vector<int64_t> &starts);

} // namespace tilewright
