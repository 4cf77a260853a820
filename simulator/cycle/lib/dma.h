// What load and store share: the runs of a move and how AXI bursts cut them (rows LOAD-burst and
// STORE-gather).
#pragma once

#include "unit.h"

namespace tilewright::cycle {

// The nest of runs of one move. A run is the innermost iterator where DRAM is contiguous along it;
// else each element is a run.
class Runs {
public:
  // `dram` null: a fill.
  Runs() = default;
  Runs(const InstructionPlan &plan, const Shared &shared, const isa::ScalarContext &context,
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
  BankMask banks() const { return banks_; } // all it may touch on chip

private:
  int64_t runsLeft_ = 0, elements_ = 0, totalElements_ = 0;
  int64_t dram_ = 0, local_ = 0;
  int64_t dramBytes_ = 0, localBytes_ = 1, localStride_ = 0;
  isa::Space space_ = isa::Space::Spad;
  BankMask banks_ = 0;
  int dimensions_ = 0;
  std::array<int64_t, maxDimensions> extents_{}, index_{}, dramStride_{}, localStrides_{};
};

// Elements on chip that go through a port one piece a cycle.
struct Pieces {
  int64_t address = 0; // byte address of the next element
  int64_t stride = 0, elementBytes = 1;
  int64_t elements = 0; // left

  int64_t perCycle(const Banks &banks) const {
    return stride == elementBytes ? std::max<int64_t>(banks.portBytes() / elementBytes, 1) : 1;
  }
  // Cycles that are left for them; a burst without elements takes one.
  int64_t cycles(const Banks &banks) const {
    const int64_t each = perCycle(banks);
    return std::max<int64_t>((elements + each - 1) / each, 1);
  }
  BankMask mask(const Banks &banks) const {
    return elements == 0 ? 0
                         : banks.mask(address, std::min(perCycle(banks), elements) * elementBytes);
  }
  void advance(const Banks &banks, int64_t cycles) {
    const int64_t moved = std::min(cycles * perCycle(banks), elements);
    address += moved * stride;
    elements -= moved;
  }
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

} // namespace tilewright::cycle
