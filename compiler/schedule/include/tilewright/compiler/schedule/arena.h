// Addresses on chip: a pure problem, without IR types.
//
// Buffers come and go in program order. A new buffer goes, in this order of preference: where it
// leaves `reserve` contiguous bytes for another of its kind, where it straddles no bank boundary,
// into the bank with the fewest live buffers that would wait for it or it for them, where
// memory was released longest ago (a new tile does not wait for the tile just finished), and into a
// bank other than the last buffer's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace tilewright {

// Who reads a buffer while it lives: the matrix unit, an element a row in every cycle of a product,
// so that others who read from the bank go without; the matrix unit beside that, weights, so that
// both from one bank take twice the time; the matrix unit's loader, a few rows a product;
// others, every cycle of some instruction; the matrix unit and others by turns; the vector unit,
// every cycle beside what it streams (weights of windows), so that both from one bank take twice
// the time; or now and then (parameters, tables).
enum class Traffic { Matrix, WeightStream, Weights, Streamed, Shared, Beside, Rare };
// Spread over the banks; or packed: those larger than a bank at the bottom, small ones at the top
// of the quietest bank, so that large ones find room, but not where a tile was just finished; or by
// turns in one bank and another, since one unit empties what the other filled just before; or by
// turns that the caller knows, so that nobody is at work any more where the last but one was, and
// what is free stays in one piece.
enum class Placement { Spread, Packed, Alternate, Turns };

class Arena {
public:
  // `bytes` in banks of `bankBytes`; addresses are multiples of `alignment`.
  Arena(int64_t bytes, int64_t bankBytes, int64_t alignment);

  // The address of a new buffer, or nothing when no free range is large enough. `beside`: the
  // address of a buffer of which some instruction reads in the same cycles; -1: there is none.
  std::optional<int64_t> allocate(int64_t bytes, Traffic traffic = Traffic::Streamed,
                                  Placement placement = Placement::Spread, int64_t reserve = 0,
                                  int64_t beside = -1);
  // Where that would be.
  std::optional<int64_t> find(int64_t bytes, Traffic traffic, Placement placement, int64_t reserve,
                              int64_t beside = -1) const;
  // What a buffer there and those that are in the same banks would cost each other.
  int64_t disturbanceAt(int64_t address, int64_t bytes, Traffic traffic) const {
    return neighbors(address, address + occupied(bytes), traffic);
  }
  // The same at a given address. False when some of it is taken.
  bool allocateAt(int64_t address, int64_t bytes, Traffic traffic = Traffic::Streamed);
  bool isFree(int64_t address, int64_t bytes) const;
  // Where a buffer stands when the whole memory is turned upside down, bank by bank.
  int64_t mirror(int64_t address, int64_t bytes) const {
    return this->bytes() - address - occupied(bytes);
  }
  void release(int64_t address);
  // Buffers released since some of these bytes were; of old ones many.
  int64_t releasesSince(int64_t address, int64_t bytes) const {
    const int64_t at = releasedAt(address, address + occupied(bytes));
    return at == 0 ? INT64_MAX : clock_ - at;
  }
  // Of an empty memory: places are chosen as if it had never been used.
  void forget();

  int64_t bytes() const { return ranges_.back().end; }
  int64_t liveBytes() const { return live_; }
  int64_t peakBytes() const { return peak_; } // the most that was live at once: no plan needs less
  int64_t highWater() const { return highWater_; } // the greatest end of a buffer
  int64_t largestFree() const;
  bool verify() const; // live buffers lie inside and apart

private:
  struct Range {
    int64_t begin, end;
    bool live;
    Traffic traffic;
  };
  struct Release {
    int64_t begin, end, at;
  };
  int64_t neighbors(int64_t begin, int64_t end, Traffic traffic) const;
  int64_t releasedAt(int64_t begin, int64_t end) const;
  void take(int64_t address, int64_t bytes, Traffic traffic);
  // What a buffer of so many bytes takes.
  int64_t occupied(int64_t bytes) const { return std::max(roundUp(bytes), alignment_); }
  int64_t roundUp(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  std::deque<Release> released_; // the latest ones, oldest first
  std::vector<Range> ranges_;    // sorted, covering [0, bytes)
  int64_t bankBytes_, alignment_;
  int64_t cursor_ = 0, clock_ = 0, live_ = 0, peak_ = 0, highWater_ = 0;
  int64_t lastBank_ = -1;
};

} // namespace tilewright
