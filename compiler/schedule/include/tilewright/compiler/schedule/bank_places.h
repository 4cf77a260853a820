// Places in a memory of banks for buffers that are at work at the same time: a pure problem,
// without IR types.
//
// 1. Buffers on the same bytes, which serve one after the other, move together: a block.
// 2. What two blocks cost each other is shared out over the banks by the bytes that they have
// there.
// 3. Block by block, the one that costs the most first, each goes where it costs less: into a gap,
// or it changes places with another. That is repeated as long as it helps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

struct BankedMemory {
  int64_t bytes, bankBytes, alignment; // of addresses
};

struct PlacedBuffer {
  int64_t address, bytes;
};

// What two buffers take from each other when both lie in one bank.
struct BankConflict {
  size_t first, second; // buffers
  double cycles;
};

// Moves buffers apart that conflict. What did not overlap does not afterwards, and a block that lay
// in one bank still does. Returns whether any moved.
bool moveApart(const BankedMemory &memory, const std::vector<BankConflict> &conflicts,
               std::vector<PlacedBuffer> &buffers);

} // namespace tilewright
