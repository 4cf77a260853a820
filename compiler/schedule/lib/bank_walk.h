// Walks through memories of banks: for how many positions each of them stays in the same banks.
#pragma once

#include "tilewright/simulator/timing/instruction_timing.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tilewright {

using BankMask = uint64_t;
inline constexpr int64_t maskBits = 64;
static_assert(isa::limits::spadBanks.greatest <= maskBits &&
              isa::limits::accBanks.greatest <= maskBits);

// The banks of a memory. Programs that were not made here may name places outside it: those count
// as its first bank or as the last there can be.
class BankSize {
public:
  BankSize() = default;
  explicit BankSize(int64_t bytes)
      : bytes_(bytes), shift_((bytes & (bytes - 1)) == 0 ? __builtin_ctzll(bytes) : -1) {}

  int64_t bytes() const { return bytes_; }
  int64_t index(int64_t address) const { // rounded down
    if (shift_ >= 0)
      return address >> shift_;
    return address >= 0 ? address / bytes_ : -((bytes_ - 1 - address) / bytes_);
  }
  BankMask mask(int64_t low, int64_t high) const { // of bytes [low, high)
    const auto first = std::clamp<int64_t>(index(low), 0, maskBits - 1),
               last = std::clamp<int64_t>(index(high - 1), first, maskBits - 1);
    return (BankMask(2) << last) - (BankMask(1) << first);
  }
  // For how many positions bytes [low, high) stay in their banks when each moves them by `stride`:
  // at least 1.
  int64_t stay(int64_t low, int64_t high, int64_t stride) const {
    if (stride == 0)
      return int64_t(1) << 40;
    if (stride > 0)
      return std::min(toEnd(low), toEnd(high - 1)) / stride + 1;
    return std::min(toBegin(low), toBegin(high - 1)) / -stride + 1;
  }

private:
  int64_t toBegin(int64_t address) const { return address - index(address) * bytes_; }
  int64_t toEnd(int64_t address) const { return bytes_ - 1 - toBegin(address); }

  int64_t bytes_ = 1;
  int shift_ = 0;
};

inline bool isSeveral(BankMask banks) { return (banks & (banks - 1)) != 0; }

using PerLevel = std::array<int64_t, isa::limits::iterators.count()>;

// Streams that walk the same nest of levels side by side. What a stream touches within the levels
// below counts as one piece; a level is entered only where some piece stands in several banks.
template <size_t maximumStreams> class BankWalk {
public:
  using Masks = std::array<BankMask, maximumStreams>;

  BankWalk(int levels, const PerLevel &extents) : levels_(levels), extents_(extents) {}

  // A stream that touches bytes [address + low, address + high) at the first position; at the last
  // one of the innermost level `beyond` fewer.
  void add(int64_t address, int64_t low, int64_t high, const PerLevel &strides,
           const BankSize &bank, int64_t beyond = 0) {
    Stream &stream = streams_[count_++];
    stream.address = address;
    stream.bank = bank;
    stream.strides = strides;
    for (int level = levels_;; --level) {
      stream.low[static_cast<size_t>(level)] = low;
      stream.high[static_cast<size_t>(level)] = high;
      if (level == 0)
        return;
      const auto at = static_cast<size_t>(level - 1);
      (strides[at] < 0 ? low : high) += strides[at] * (extents_[at] - 1);
      if (level == levels_)
        high -= beyond;
    }
  }

  // What a stream touches in all.
  BankMask all(size_t stream) const {
    const Stream &of = streams_[stream];
    return of.bank.mask(of.address + of.low[0], of.address + of.high[0]);
  }

  // Positions of the levels below this one.
  int64_t positionsWithin(int level) const {
    int64_t count = 1;
    for (int i = level + 1; i < levels_; ++i)
      count *= extents_[static_cast<size_t>(i)];
    return count;
  }

  // Calls work(level, first, count, masks) for stretches of positions of a level that stand in the
  // same banks, in the order of the walk. `first` counts within the level; a walk of no level is
  // one position of level -1, and so is one that never leaves its banks.
  template <typename Work> void forEachStretch(const Work &work) {
    Masks banks{};
    bool straddles = false;
    for (size_t s = 0; s < count_; ++s) {
      banks[s] = all(s);
      straddles |= isSeveral(banks[s]);
    }
    if (straddles && levels_ > 0)
      walk(0, work);
    else
      work(-1, 0, 1, banks);
  }

private:
  struct Stream {
    int64_t address;
    BankSize bank;
    PerLevel strides;
    // What it touches from a position of the level above on.
    std::array<int64_t, isa::limits::iterators.count() + 1> low, high;
  };
  template <typename Work> void walk(int level, const Work &work) {
    const auto at = static_cast<size_t>(level);
    std::array<int64_t, maximumStreams> limits;
    for (size_t s = 0; s < count_; ++s)
      limits[s] = streams_[s].address + streams_[s].high[at];
    for (int64_t i = 0; i < extents_[at];) {
      int64_t count = extents_[at] - i;
      bool straddles = false;
      Masks banks{};
      for (size_t s = 0; s < count_; ++s) {
        const Stream &stream = streams_[s];
        const int64_t low = stream.address + stream.low[at + 1],
                      high = stream.address + stream.high[at + 1];
        banks[s] = stream.bank.mask(low, std::min(high, limits[s]));
        straddles |= isSeveral(banks[s]);
        count = std::min(count, stream.bank.stay(low, high, stream.strides[at]));
      }
      if (straddles && level + 1 < levels_) {
        count = 1;
        walk(level + 1, work);
      } else {
        work(level, i, count, banks);
      }
      move(at, count);
      i += count;
    }
    move(at, -extents_[at]);
  }
  void move(size_t level, int64_t positions) {
    for (size_t s = 0; s < count_; ++s)
      streams_[s].address += positions * streams_[s].strides[level];
  }

  int levels_;
  PerLevel extents_;
  size_t count_ = 0;
  std::array<Stream, maximumStreams> streams_;
};

} // namespace tilewright
