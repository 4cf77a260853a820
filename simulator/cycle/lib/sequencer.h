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
  void fetch(int64_t t);
  void decodeNext(bool isThere, uint64_t predicted, bool hasExecuted);
  bool isThere(int64_t t) const; // the line of the instruction that is decoded next
  void charge(const Activity &activity, int64_t t, int64_t n);
  int64_t lineOf(uint64_t pc) const;
  bool isHeld(int64_t line) const {
    return line < nextLine_ && line >= nextLine_ - static_cast<int64_t>(held_);
  }
  // The cycle of its last beat, of a line that is held.
  int64_t &arrival(int64_t line) { return arrivals_[static_cast<size_t>(line) % arrivals_.size()]; }
  int64_t arrival(int64_t line) const {
    return arrivals_[static_cast<size_t>(line) % arrivals_.size()];
  }
  int64_t lineToFetch() const; // -1: none
  void forgetArrived(int64_t t);
  Activity execute(int64_t t); // busy: it has
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
  bool isDecoded_ = false; // the instruction at the flow's pc
  uint64_t fetchPc_;       // of the instruction that is decoded next
  int64_t lineBytes_, instructionBytes_, ahead_;
  size_t outstanding_;
  // The fetch buffer holds lines [nextLine_ - held_, nextLine_), there or on the way.
  std::vector<int64_t> arrivals_;
  int64_t nextLine_ = 0;
  size_t held_ = 0;
  std::deque<int64_t> arriving_; // cycles of the last beats of all that is on the way
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
