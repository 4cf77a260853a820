// What load and store share: the pieces of a burst that go through a port.
#pragma once

#include "unit.h"

#include "tilewright/simulator/timing/runs.h"

namespace tilewright::cycle {

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

// All banks that a move may touch on chip.
inline BankMask banksOf(const timing::Runs &runs, const Shared &shared) {
  return runs.totalElements() == 0
             ? 0
             : shared.banks(runs.space()).mask(runs.localLow(), runs.localHigh() - runs.localLow());
}

} // namespace tilewright::cycle
