// Hazards between units: which earlier instructions must have ended before an instruction starts.
#pragma once

#include "tilewright/isa/extent.h"

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

// By unit: a sequence number within that unit, counted from 1; 0 is "none".
using UnitClock = std::vector<int64_t>;

// Walks one program in program order and remembers, for each byte of each memory, who touched it
// last.
class HazardTracker {
public:
  explicit HazardTracker(int units) : units_(units) {}

  // For each unit, the latest earlier instruction that conflicts with this one: it wrote what this
  // one reads or writes, or read what this one writes. Then records this one's accesses as those of
  // instruction `sequence` of `unit`.
  UnitClock visit(int unit, int64_t sequence, const std::vector<MemoryAccess> &accesses);

  // Forgets everything: all units are idle.
  void clear();

private:
  struct Mark {
    int64_t end;
    UnitClock writers, readers;
  };
  using Marks = std::map<int64_t, Mark>; // by begin; disjoint
  Marks::iterator split(Marks &marks, int64_t at);

  int units_;
  std::array<Marks, 3> spaces_;
};

// The accesses of an instruction. `registers` by StateRegister::index; `addresses` by operand.
std::vector<MemoryAccess> memoryAccesses(const isa::Isa &isa, const isa::Word &word,
                                         const int64_t *registers, const int64_t *addresses);

} // namespace tilewright
