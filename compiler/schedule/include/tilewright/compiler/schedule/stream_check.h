// Proves of a finished instruction stream that its semaphores do their work, from the instructions
// alone.
#pragma once

#include "tilewright/compiler/schedule/emitter.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// Walks instructions in the order in which they execute, with one vector clock a unit: what has
// ended for sure when its latest instruction starts.
//
// All of this must hold: every wait finds a signal of an earlier instruction; no signal is left
// over; no semaphore can hold more than `semaphore_max`; and every two instructions of different
// units that touch the same bytes, one of them writing, are ordered by waits, signals and fences.
// Loops are executed, with every trip that they make; programs with branches, which the scheduler
// does not emit, are refused.
class StreamChecker {
public:
  explicit StreamChecker(const isa::Isa &isa);

  // The next instruction, with its final addresses: "", or what does not hold of it.
  std::string visit(const isa::DecodedInstruction &decoded);
  // The end of the program: "", or what does not hold of it as a whole.
  std::string finish() const;

private:
  const isa::Isa &isa_;
  AccessFinder accesses_;
  HazardTracker hazards_;
  int64_t semaphoreMax_;
  LaneClock sequence_;
  std::vector<LaneClock> known_;
  std::vector<std::deque<LaneClock>>
      signals_; // by semaphore: the clocks at signals not yet waited for
  std::vector<std::vector<int64_t>> registers_;
};

struct StreamFault {
  std::optional<size_t> instruction; // nothing: the program as a whole
  std::string text;                  // with the instruction's number and its own text
};

// The first thing that does not hold, if there is any.
std::optional<StreamFault> findFault(const Stream &stream, const isa::Isa &isa);

// The same as text; "" when all of that holds.
std::string checkStream(const Stream &stream, const isa::Isa &isa);

} // namespace tilewright
