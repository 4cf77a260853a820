// Who waited for whom: the unit that each stall of an instruction is the fault of.
//
// 1. A semaphore's n-th taker got what its n-th giver gave. An instruction that waited for several
//    semaphores waited for the unit that gave the last of them.
// 2. One that could not signal, because the semaphore was full, waited for the unit that takes it.
// 3. The sequencer waits for the unit whose queue is full. (It is the sequencer's stall, though the
//    instruction is another unit's.)
// 4. All else is nobody's fault: the DRAM, the unit's own earlier work, and lost arbitration, of
// which
//    the winners are counted for the whole run only.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/engine/engine.h"

#include <vector>

namespace tilewright::report {

// Stalls of one row by unit, cause and the unit waited for.
class WaitTable {
public:
  explicit WaitTable(size_t units) : units_(units) {}
  void add(const Wait &wait);
  std::vector<Wait> list() const; // without zeros; most cycles first

private:
  size_t units_;
  std::vector<int64_t> cycles_; // [unit][cause][on + 1]; empty until the first
};

// Of all rows together; most cycles first.
std::vector<Wait> allWaits(const Report &report);

// By position in the trace: for whom the instruction waited on semaphores; -1 for nobody.
std::vector<int> semaphoreGivers(const Program &program, const RunRecord &record,
                                 const isa::Isa &isa);

// The stalls of one instruction; `unit` is its own, `giver` from semaphoreGivers.
void addWaits(WaitTable &table, const InstructionRecord &instruction, int unit, int giver);

} // namespace tilewright::report
