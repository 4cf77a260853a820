// A unit's instructions that have executed and wait to signal. Without time, no other instruction
// is in flight. What may start behind them is the contract's (docs/microarchitecture.md):
//   1. They end in order; the matrix unit's loads of weights and its contractions each in their own
//   (MAT-load-end, MAT-end).
//   2. A unit has only so many (LOAD-start, STORE-start, MAT-load-enter, MAT-enter, VEC-end):
//   beside the one that waits, what its stages hold. The matrix unit holds one more, behind which
//   nothing starts (MAT-start).
//   3. The first load behind the one that waits drains; the bursts of those behind it stay in
//   landing buffers, and a load whose bursts do not all fit keeps the issue stage (LOAD-burst,
//   LOAD-next).
#pragma once

#include "race_checker.h"

#include "tilewright/simulator/timing/instruction_timing.h"

#include <deque>

namespace tilewright {

class InFlight {
public:
  struct Entry {
    uint64_t pc = 0;
    uint32_t signal = 0;
    RaceChecker::Clock passesOn{}; // what its signal tells, where races are looked for
    int64_t bursts = 0;            // of a load that does not drain
  };

  InFlight(const isa::Isa &isa, const isa::Unit &unit);

  bool empty() const { return ordered_.empty() && weights_.empty(); }
  // Whether an instruction may start behind what is in flight, its semaphores aside.
  bool admits(const timing::InstructionTiming &timing) const;
  // Whether it has to wait for another one's end before its own.
  bool hasBefore(const timing::InstructionTiming &timing) const { return !laneOf(timing).empty(); }
  // `scalars` and `addresses` are the instruction's own: base registers are added.
  void push(Entry entry, const timing::InstructionTiming &timing, const isa::ScalarContext &scalars,
            const int64_t *addresses);
  // The oldest one that waits; null: none does.
  const Entry *oldest() const {
    if (weights_.empty() || ordered_.empty())
      return !weights_.empty()   ? &weights_.front()
             : !ordered_.empty() ? &ordered_.front()
                                 : nullptr;
    return weights_.front().pc < ordered_.front().pc ? &weights_.front() : &ordered_.front();
  }
  // Calls `end(entry)` on each that is the oldest of its kind, until it returns false: it cannot
  // signal. Returns whether any ended.
  template <typename End> bool retire(const End &end) {
    bool ended = false;
    for (auto *lane : {&weights_, &ordered_})
      for (; !lane->empty() && end(lane->front()); ended = true)
        lane->pop_front();
    return ended;
  }

private:
  using Lane = std::deque<Entry>;
  bool loadsWeights(const timing::InstructionTiming &timing) const {
    return unit_.kind == isa::UnitTemplate::Matrix && !timing.isContraction;
  }
  const Lane &laneOf(const timing::InstructionTiming &timing) const {
    return loadsWeights(timing) ? weights_ : ordered_;
  }
  int64_t buffersLeft() const; // landing buffers; negative: the issue stage waits for one

  const isa::Isa &isa_;
  const isa::Unit &unit_;
  size_t
      most_; // that have started and not ended; of the matrix unit, contractions that have entered
  int64_t buffers_; // of a load DMA
  Lane ordered_, weights_;
};

} // namespace tilewright
