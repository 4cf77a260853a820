// What a run tells beside its record: what happens in which cycle, and what each instruction leaves
// in memory. For comparing engines (simulator/lockstep); a run without a sink pays nothing.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/simulator/engine/engine.h"

#include <cstdint>

namespace tilewright {

constexpr uint64_t noInstruction = UINT64_MAX;

// A piece of a memory that is written in a cycle: through one port of a memory on chip, or as one
// beat of the DRAM's bus. Or a burst that is requested from DRAM.
struct AccessEvent {
  int64_t cycle = 0;
  int unit = 0;                // Isa::units() index
  uint64_t pc = noInstruction; // of the instruction it is done for; none: instruction fetch
  isa::Space space = isa::Space::Spad;
  bool isWrite = true;
  uint64_t address = 0; // in bytes
  int64_t bytes = 0;    // of a read: to the end of its last beat
};

// What a unit's cycles went to (docs/microarchitecture.md, "Where a cycle goes").
struct ActivityEvent {
  int64_t cycle = 0, cycles = 1;
  int unit = 0;
  enum class Kind { Busy, Idle, Stalled } kind = Kind::Idle;
  Stall cause = Stall::None;   // when stalled
  uint64_t pc = noInstruction; // of the instruction that is charged, when stalled
};

// Pieces that a unit asked for in a cycle and another one held.
struct ConflictEvent {
  int64_t cycle = 0;
  int loser = 0, winner = 0; // Isa::units() index
  int64_t pieces = 0;
};

class RunSink {
public:
  virtual ~RunSink() = default;
  // Engines that have time call these, in any order of cycles; but a unit's activities come one
  // after the other and leave no cycle out. Of an aborted run, accesses of later cycles may come.
  virtual void access(const AccessEvent &event) = 0;
  virtual void activity(const ActivityEvent &event) = 0;
  virtual void conflict(const ConflictEvent &event) = 0;

  // All engines: the instruction leaves `count` bytes at an address, as far as it does not write
  // them again in a later call. `instance` tells executions of an instruction apart; the calls of
  // one come in a row.
  virtual void written(InstructionRecord &record, uint64_t instance, isa::Space space,
                       uint64_t address, const uint8_t *bytes, int64_t count) = 0;
};

} // namespace tilewright
