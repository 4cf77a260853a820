// The store DMA: rows STORE-* of docs/microarchitecture.md. A gather stage that fills buffers, a
// send stage that writes whole bursts.
#pragma once

#include "dma.h"

#include <deque>

namespace tilewright::cycle {

class Store : public Unit {
public:
  Store(Shared &shared, const isa::Unit &unit);
  void step(int64_t t);
  int64_t steadyCycles(int64_t t, PortUse &use);
  void skip(int64_t t, int64_t n);
  bool idle() const { return queue_.empty() && !started_ && flights_.empty(); }
  Blocked blocked() const;

private:
  // A store begun and not ended.
  struct Flight {
    InstructionRecord *record = nullptr;
    uint32_t signal = 0;
    int64_t bursts = 0;    // begun and not answered for
    bool gathered = false; // no more bursts come
    int64_t ready = 0;     // cycle of the last response
  };
  // A gathered burst that waits for the write channel.
  struct Burst {
    timing::Cut cut;
    int64_t beats = 0;
    const InstructionRecord *record = nullptr;
    int64_t from = 0; // cycle in which it may be sent
  };

  bool headStarts(size_t inFlight) const {
    if (started_ || gathering_ || queue_.empty())
      return false;
    return queue_.head().isSet() ? canSet() : canAcquire() && inFlight < inFlight_;
  }
  void startHead(int64_t t);
  void issue(int64_t t); // from the next cycle on, what started
  Activity gather(int64_t t, size_t freeBuffers);
  void beginBurst();
  void gathered(int64_t t);
  bool send(int64_t t);
  void reportBeat(int64_t t, int64_t left);
  void forgetAnswered(int64_t t);
  bool retire(int64_t t, bool &cannotSignal);
  Port port() const { return runs_.space() == isa::Space::Spad ? Port::SpadRead : Port::AccRead; }

  size_t inFlight_, buffers_, outstanding_;
  uint64_t burstBytes_;
  std::deque<Flight> flights_;
  bool gathering_ = false; // flights_.back() has bursts to gather
  int64_t gatherFrom_ = 0; // the cycle of the first piece, at the earliest
  timing::Runs runs_;
  BankMask banks_ = 0;    // that they touch on chip
  uint64_t position_ = 0; // next byte of the current run
  bool inBurst_ = false;  // burst_ is partly gathered
  timing::Cut burst_;
  Pieces pieces_; // of burst_
  size_t buffersUsed_ = 0;
  std::deque<Burst> waiting_; // gathered
  int64_t beatsLeft_ = 0;     // of the burst being sent
  timing::Cut sending_;
  const InstructionRecord *sender_ = nullptr;
  std::deque<int64_t> responses_; // cycles of the responses of sent bursts
  size_t unsent_ = 0; // the flight (from the oldest) that the next sent burst belongs to
};

} // namespace tilewright::cycle
