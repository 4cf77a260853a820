// The sequencer: rows SEQ-* of docs/microarchitecture.md. A fetch buffer filled by bursts, control
// flow, dispatch.
#pragma once

#include "unit.h"

#include "tilewright/simulator/engine/decode_cache.h"

#include <deque>
#include <functional>
#include <vector>

namespace tilewright::cycle {

class Sequencer {
public:
  // `unitsIdle`: all queues empty and all units idle, as of the beginning of the cycle.
  Sequencer(Shared &shared, const std::vector<timing::InstructionTiming> &timings,
            std::vector<Queue *> queues, std::function<bool()> unitsIdle, bool trace);
  void step(int64_t t);
  void next(); // the end of the cycle: what was dispatched enters its queue
  int64_t steadyCycles(int64_t t);
  void skip(int64_t t, int64_t n) { charge(steadyActivity_, t + 1, n); }
  bool halted() const { return halted_; }

  const UnitRecord &record() const { return account_.record(); }
  uint64_t instructions() const { return instructions_; }
  uint64_t fetchBytes() const { return fetchBytes_; }
  std::vector<InstructionRecord> takeTrace(); // once, at the end
  Unit::Blocked blocked();
  uint64_t pc() const { return flow_.pc(); }
  isa::DecodedInstruction decode(uint64_t pc) const; // of an instruction that was reached

private:
  struct Line {
    int64_t number = -1; // line of DRAM; -1: empty
    int64_t last = -1;   // cycle of its last beat
  };

  void fetch(int64_t t);
  void charge(const Activity &activity, int64_t t, int64_t n);
  int64_t lineToFetch() const; // -1: none
  int64_t lineOf(uint64_t pc) const;
  Line &slot(int64_t line) { return lines_[static_cast<size_t>(line) % lines_.size()]; }
  const Line &slot(int64_t line) const { return lines_[static_cast<size_t>(line) % lines_.size()]; }
  void forgetArrived(int64_t t);
  int64_t lastWanted() const;
  Activity execute(int64_t t);
  void dispatch(const isa::DecodedInstruction &decoded, const timing::InstructionTiming &timing,
                int64_t t);
  bool control(const isa::DecodedInstruction &decoded, const timing::InstructionTiming &timing,
               int64_t t, Activity &activity);
  InstructionRecord *current(); // of the instruction at pc, created when first asked for

  Shared &shared_;
  const std::vector<timing::InstructionTiming> &timings_;
  std::vector<Queue *> queues_; // by unit; null for the sequencer
  std::function<bool()> unitsIdle_;
  bool trace_;

  ControlFlow flow_;
  int64_t lineBytes_, instructionBytes_, ahead_;
  size_t outstanding_;
  std::vector<Line> lines_;
  std::deque<int64_t> arriving_; // cycles of the last beats on the way
  int64_t firstWanted_ = -1, lastWanted_ = -1;
  int64_t toFetch_ = -1;
  DecodeCache decoded_;
  std::vector<int64_t> base_;

  bool halted_ = false;
  bool dispatched_ = false;
  DispatchedInstruction staged_;
  int stagedUnit_ = 0;
  InstructionRecord *current_ = nullptr;
  // Records stay where they are while their instructions run: those of a program without loops in
  // the trace itself, the others behind it.
  std::vector<InstructionRecord> records_;
  std::deque<InstructionRecord> more_;
  size_t oldest_ = 0; // without a trace: the record that is used again next
  uint64_t instructions_ = 0, fetchBytes_ = 0;
  Account account_;
  Activity steadyActivity_;
};

} // namespace tilewright::cycle
