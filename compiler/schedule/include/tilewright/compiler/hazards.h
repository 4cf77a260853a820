// Hazards between units: which earlier instructions must have ended before an instruction starts.
#pragma once

#include "tilewright/isa/extent.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace tilewright {

// One access of an instruction, from isa::operandRanges.
struct MemoryAccess {
  isa::Space space;
  isa::Range range; // bytes
  bool write = false;
};

// A lane is what ends its instructions in order: a unit, or one of the two sides of a matrix unit
// (its weight loads may end before older products).
int laneCount(const isa::Isa &isa);
int laneOf(const isa::Isa &isa, const isa::Instruction &instruction);
int unitOfLane(const isa::Isa &isa, int lane);

// By lane: a sequence number within that lane, counted from 1; 0 is "none".
using LaneClock = llvm::SmallVector<int64_t, 12>;

// Walks one program in program order and remembers, for each byte of each memory, who touched it
// last.
class HazardTracker {
public:
  explicit HazardTracker(int lanes) : lanes_(lanes) {}

  // For each lane, the latest earlier instruction that conflicts with this one: it wrote what this
  // one reads or writes, or read what this one writes. Then records this one's accesses as those of
  // instruction `sequence` of `lane`.
  LaneClock visit(int lane, int64_t sequence, const std::vector<MemoryAccess> &accesses);

  // Forgets everything: all units are idle.
  void clear();

private:
  struct Mark {
    int64_t end;
    LaneClock writers, readers;
  };
  using Marks = std::map<int64_t, Mark>; // by begin; disjoint
  Marks::iterator split(Marks &marks, int64_t at);
  void merge(Marks &marks, int64_t begin, int64_t end);

  int lanes_;
  std::array<Marks, 3> spaces_;
};

// The accesses of an instruction. `registers` by StateRegister::index; `addresses` by operand.
std::vector<MemoryAccess> memoryAccesses(const isa::Isa &isa, const isa::Word &word,
                                         const int64_t *registers, const int64_t *addresses);

} // namespace tilewright
