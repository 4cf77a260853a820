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
using MemoryAccesses = InlineVector<MemoryAccess, isa::limits::operands.count()>;

// A lane is what ends its instructions in order: a unit, or one of the two sides of a matrix unit
// (its weight loads may end before older products).
int laneCount(const isa::Isa &isa);
int laneOf(const isa::Isa &isa, const isa::Instruction &instruction);
int unitOfLane(const isa::Isa &isa, int lane);

inline constexpr size_t maximumLanes = size_t{2} * isa::limits::units;

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

private:
  using Page = std::vector<Segment>; // sorted, covering the page; empty: nobody touched it
  using Sequences = std::array<int32_t, maximumLanes>;
  template <typename Work> void forEachPage(const MemoryAccess &access, Work work);
  static size_t segmentAt(const Page &page, int64_t at);
  static size_t collect(const Page &page, size_t first, int64_t end, bool isWrite,
                        Sequences &needed);
  static void write(Page &page, size_t first, size_t last, int64_t begin, int64_t end,
                    const Segment &written);
  static void read(Page &page, size_t first, size_t last, int64_t begin, int64_t end, int lane,
                   int32_t sequence);

  size_t lanes_;
  std::array<std::vector<Page>, 3> spaces_; // by page
};

// The accesses of instructions, by isa::operandRanges. Most instructions of a program differ from
// others in their addresses alone, and these only move what is touched: the rest is looked up.
class AccessFinder {
public:
  explicit AccessFinder(const isa::Isa &isa);
  // `decoded` has addresses without base registers; `registers` by StateRegister::index.
  MemoryAccesses of(const isa::DecodedInstruction &decoded, const std::vector<int64_t> &registers);

private:
  static constexpr int foundBits = 5; // of the places where an instruction's are looked up
  using Values = InlineVector<int64_t, isa::limits::operands.count()>;
  struct Memory { // an operand
    size_t operand;
    int64_t addressBytes;
    isa::Space space;
    bool write;
  };
  struct Found {
    bool isKnown = false;
    Values values;
    std::vector<int64_t> registers;
    std::vector<isa::Range> ranges; // by Form::memories
  };
  struct Form { // of an instruction of the description
    bool isKnown = false;
    std::vector<int64_t> decides; // by operand: 0 for an address, else all bits
    std::vector<Memory> memories;
    std::vector<Found> found;
  };
  Form &formOf(int instruction);
  const Found &find(Form &form, const isa::DecodedInstruction &decoded,
                    const std::vector<int64_t> &registers);

  const isa::Isa &isa_;
  std::vector<Form> forms_; // by instruction
};

} // namespace tilewright
