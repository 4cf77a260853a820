// One thing that happened in one cycle, whichever kind it is.
#pragma once

#include "tilewright/simulator/engine/run_sink.h"

#include <string>

namespace tilewright::lockstep {

struct Event {
  enum class Kind { Write, Read, Conflict, Activity }; // in the order in which they are told
  int64_t cycle = 0;
  Kind kind = Kind::Write;
  int unit = 0;
  uint64_t pc = noInstruction;
  // Write, Read
  isa::Space space = isa::Space::Spad;
  uint64_t address = 0;
  int64_t bytes = 0;
  // Conflict: pieces lost in the cycle
  int winner = 0;
  int64_t pieces = 0;
  // Activity
  ActivityEvent::Kind activity = ActivityEvent::Kind::Idle;
  Stall cause = Stall::None;
};

Event eventOf(const AccessEvent &access);
Event eventOf(const ConflictEvent &conflict);
Event eventOf(const ActivityEvent &activity); // of its first cycle

bool operator<(const Event &a, const Event &b); // by cycle, then by kind
bool operator==(const Event &a, const Event &b);

// "writes 64 bytes at 0x40 of acc", "is idle".
std::string describe(const Event &event, const isa::Isa &isa);

} // namespace tilewright::lockstep
