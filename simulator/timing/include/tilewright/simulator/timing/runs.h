// The runs of a move between DRAM and a memory on chip, and how AXI bursts cut them (rows
// LOAD-burst and STORE-gather of docs/microarchitecture.md).
#pragma once

#include "tilewright/simulator/timing/instruction_timing.h"

#include <algorithm>

namespace tilewright::timing {

// The nest of runs of one move. A run is the innermost iterator where DRAM is contiguous along it;
// else each element is a run.
class Runs {
public:
  // `dram` null: a fill.
  Runs() = default;
  Runs(const InstructionTiming &timing, const isa::Isa &isa, const isa::ScalarContext &context,
       const int64_t *addresses);

  bool done() const { return runsLeft_ == 0; }
  void next();                                                   // the next run
  int64_t elements() const { return elements_; }                 // of a run
  uint64_t dram() const { return static_cast<uint64_t>(dram_); } // byte address of the run
  int64_t local() const { return local_; }         // byte address of its first element on chip
  int64_t dramBytes() const { return dramBytes_; } // of an element
  int64_t localBytes() const { return localBytes_; }
  int64_t localStride() const { return localStride_; } // bytes, along the run
  isa::Space space() const { return space_; }
  bool isFill() const { return dramBytes_ == 0; }
  int64_t totalElements() const { return totalElements_; }
  // Byte addresses [low, high) hold all it touches on chip.
  int64_t localLow() const { return localLow_; }
  int64_t localHigh() const { return localHigh_; }

private:
  int64_t runsLeft_ = 0, elements_ = 0, totalElements_ = 0;
  int64_t dram_ = 0, local_ = 0;
  int64_t dramBytes_ = 0, localBytes_ = 1, localStride_ = 0;
  isa::Space space_ = isa::Space::Spad;
  int64_t localLow_ = 0, localHigh_ = 0;
  int dimensions_ = 0;
  std::array<int64_t, isa::limits::iterators.count()> extents_{}, index_{}, dramStride_{},
      localStrides_{};
};

// The bytes of a run that one burst moves.
struct Cut {
  uint64_t begin = 0;
  int64_t bytes = 0;
};
inline Cut cut(uint64_t begin, uint64_t runEnd, uint64_t burstBytes) {
  const uint64_t end = std::min(runEnd, (begin / burstBytes + 1) * burstBytes);
  return {begin, static_cast<int64_t>(end - begin)};
}

// The bursts of a move from its run at hand on, a fill's none; not counted beyond `most`.
inline int64_t countBursts(Runs runs, int64_t burstBytes, int64_t most) {
  int64_t bursts = 0;
  for (; !runs.isFill() && !runs.done() && bursts < most; runs.next()) {
    const int64_t before = static_cast<int64_t>(runs.dram() % static_cast<uint64_t>(burstBytes));
    bursts += (before + runs.elements() * runs.dramBytes() + burstBytes - 1) / burstBytes;
  }
  return std::min(bursts, most);
}

// Elements [first, last) of the run at hand that a burst of it owns: of a load those whose last
// byte it holds, of a store those whose first byte it holds.
struct Elements {
  int64_t first, last;
  int64_t count() const { return last - first; }
};
inline Elements ownedByLoad(const Runs &runs, const Cut &burst) {
  const uint64_t at = burst.begin - runs.dram(), size = static_cast<uint64_t>(runs.dramBytes());
  return {static_cast<int64_t>(at / size),
          static_cast<int64_t>((at + static_cast<uint64_t>(burst.bytes)) / size)};
}
inline Elements ownedByStore(const Runs &runs, const Cut &burst) {
  const uint64_t at = burst.begin - runs.dram(), size = static_cast<uint64_t>(runs.dramBytes());
  return {static_cast<int64_t>((at + size - 1) / size),
          static_cast<int64_t>((at + static_cast<uint64_t>(burst.bytes) + size - 1) / size)};
}

} // namespace tilewright::timing
