// Whether engines do the same, cycle by cycle: not totals, since an error that cancels out is an
// error.
//
//   1. Each engine runs the program with a sink that keeps one digest for every window of cycles:
//      of each write to a memory, each burst requested from DRAM, each conflict at a bank, and what
//      each unit's cycle went to. A digest is a sum over events, so that their order within the run
//      is of no account. The record keeps, for each instruction, a digest of what it left in
//      memory.
//   2. When windows or records differ, both engines run again with a sink that keeps the events of
//      the first differing window, or the bytes of the first differing instruction.
//   3. Of all differences found, the one that comes first in time is told.
//
// Runs that end with an error must end with the same; of those, the cycles before it are compared.
// A run that goes on long after the first one with time has ended is cut off, and differs.
// An engine without time is compared in its path, the bytes its instructions move, what each of
// them leaves in memory, and the DRAM at the end.
#pragma once

#include "tilewright/simulator/engine/run_sink.h"
#include "tilewright/support/error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::lockstep {

// The first difference in time. What does not apply is -1, noInstruction or empty.
struct Difference {
  int64_t cycle = -1;
  int unit = -1;                        // Isa::units() index
  uint64_t instruction = noInstruction; // its number in the program
  std::optional<isa::Space> space;
  uint64_t address = 0; // in bytes, where there is a space
  std::string text;     // one line: all of the above, and what each engine does
};

// What was compared and is equal.
struct Compared {
  uint64_t instructions = 0;
  int64_t cycles = 0; // 0: no two engines have time
  uint64_t dramBytes = 0;
  uint64_t writes = 0, writtenBytes = 0; // pieces; of memories on chip and DRAM
  uint64_t reads = 0;                    // bursts requested from DRAM
  uint64_t stallCycles = 0;
  std::string stopped; // the engine whose run a limit ended; nothing else was compared then
  std::optional<UserError> error; // that ends every run
};

struct Comparison {
  Compared compared;
  std::optional<Difference> difference;
  std::string engines;         // "cycle,rtl": those that differ
  bool overwritesCode = false; // a run did
};

struct CompareOptions {
  int64_t maxCycles = 0; // as RunOptions
  bool values = true;    // false: of units that race, times alone are defined
  bool checkRaces = false;
};

// A run that left `memory` wrote to its code: what it executed then is not defined (docs/rtl.md).
bool overwritesCode(const Program &program, const DramImage &memory);

// Compares each engine with the first one that has time, else with the first. `image` gives the
// DRAM before a run.
Comparison compare(const isa::Isa &isa, const Program &program,
                   const std::function<DramImage()> &image, const std::vector<Engine *> &engines,
                   const CompareOptions &options);

} // namespace tilewright::lockstep
