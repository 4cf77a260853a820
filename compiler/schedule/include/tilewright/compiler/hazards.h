// Hazards between units: which earlier instructions must have ended before an instruction starts.
#pragma once

#include "tilewright/isa/extent.h"
#include "tilewright/support/inline_vector.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tilewright {

// One access of an instruction, from isa::operandRanges.
struct MemoryAccess {
  isa::Space space;
  isa::Range range; // bytes
  bool write = false;
};
using MemoryAccesses = InlineVector<MemoryAccess, isa::maximumOperands>;

// A lane is what ends its instructions in order: a unit, or one of the two sides of a matrix unit
// (its weight loads may end before older products).
int laneCount(const isa::Isa &isa);
int laneOf(const isa::Isa &isa, const isa::Instruction &instruction);
int unitOfLane(const isa::Isa &isa, int lane);

// There is at most one unit of each template.
inline constexpr size_t maximumLanes = 10;

// By lane: a sequence number within that lane, counted from 1; 0 is "none".
using LaneClock = InlineVector<int32_t, maximumLanes>;

// Walks one program in program order and remembers, for each byte of each memory, who touched it
// last.
//
// A memory is cut into pages, a page into segments of bytes that the same have touched: what an
// access changes stays small, however much of the memory is in use.
class HazardTracker {
public:
  explicit HazardTracker(int lanes) : lanes_(static_cast<size_t>(lanes)) {}

  // For each lane, the latest earlier instruction that conflicts with this one: it wrote what this
  // one reads or writes, or read what this one writes. Then records this one's accesses as those of
  // instruction `sequence` of `lane`.
  LaneClock visit(int lane, int32_t sequence, const MemoryAccesses &accesses);

  // Forgets everything: all units are idle.
  void clear();

private:
  // Who touched the bytes from `begin` on, up to the next segment or the page's end.
  struct Segment {
    int64_t begin = 0;
    int32_t written = 0; // by instruction `written` of lane `writer`
    int32_t writer = 0;
    std::array<int32_t, maximumLanes> readers{}; // since it was written
    bool isTouchedAs(const Segment &other) const {
      return written == other.written && writer == other.writer && readers == other.readers;
    }
  };
  using Page = std::vector<Segment>; // sorted, covering the page; empty: nobody touched it
  template <typename Work> void forEachPage(const MemoryAccess &access, Work work);
  static size_t split(Page &page, int64_t at);
  static void write(Page &page, int64_t begin, int64_t end, int lane, int32_t sequence);
  static void read(Page &page, int64_t begin, int64_t end, int lane, int32_t sequence);

  size_t lanes_;
  std::array<std::vector<Page>, 3> spaces_; // by page
};

// The accesses of an instruction. `registers` by StateRegister::index; `addresses` by operand.
MemoryAccesses memoryAccesses(const isa::Isa &isa, const isa::Word &word, const int64_t *registers,
                              const int64_t *addresses);

} // namespace tilewright
