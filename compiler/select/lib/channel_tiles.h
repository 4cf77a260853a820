// In which order channels stand, where the order is free: channels that need the same stand in one
// tile, which then needs less.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"

#include <cstdint>
#include <vector>

namespace tilewright {

// What tiles of consecutive channels cost: a tile pays once for each thing that any of its channels
// needs.
struct ChannelNeeds {
  int64_t tile = 1;                // channels
  int64_t cost = 1;                // of each thing
  std::vector<llvm::BitVector> of; // things, by channel
};

// Of all tiles together, with channel order[i] at place i.
int64_t costOf(llvm::ArrayRef<ChannelNeeds> needs, llvm::ArrayRef<int64_t> order);

// The cheapest order that is found; the channels' own where none costs less, or where they differ
// so much that a search would take long.
std::vector<int64_t> cheapOrder(llvm::ArrayRef<ChannelNeeds> needs);

} // namespace tilewright
