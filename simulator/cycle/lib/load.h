// The load DMA: rows LOAD-* of docs/microarchitecture.md. An issue stage that requests bursts, a
// drain stage that moves what has come.
#pragma once

#include "dma.h"

#include <deque>

namespace tilewright::cycle {

class Load : public Unit {
public:
  Load(Shared &shared, const isa::Unit &unit, Client client);
  void step(int64_t t);
  int64_t steadyCycles(int64_t t, PortUse &use);
  void skip(int64_t t, int64_t n);
  bool idle() const { return queue_.empty() && !started_ && flights_.empty() && !ending_; }
  Blocked blocked() const;

private:
  // A load begun and not ended.
  struct Flight {
    InstructionRecord *record = nullptr;
    uint32_t signal = 0;
    int64_t bursts = 0;     // requested and not drained
    bool requested = false; // no more bursts come
    timing::Runs fill;      // a fill's runs
    BankMask banks = 0;
    isa::Space space = isa::Space::Spad;
  };
  // A landing buffer: a burst on the way or landed.
  struct Burst {
    Bus::Beats beats;
    Pieces pieces;
    bool drains(int64_t t) const { return beats.last + timing::landedToDrained <= t; }
  };

  bool headStarts() const {
    if (started_ || issuing_ || queue_.empty())
      return false;
    return queue_.head().isSet() ? canSet() : canAcquire() && flights_.size() < inFlight_;
  }
  void startHead(int64_t t);
  void issue(int64_t t); // from the next cycle on, what started
  void request(int64_t t);
  bool hasWork(int64_t t) const;
  Activity drain(int64_t t, bool mayEnd);
  Activity waiting(bool ended, InstructionRecord *ending, bool starts) const;
  void movePieces(Pieces &pieces, int64_t t, int64_t cycles);
  void drainDone(int64_t t);
  void beginFillRun();
  bool beatOnBus(int64_t t);
  Port port(const Flight &flight) const {
    return flight.space == isa::Space::Spad ? Port::SpadWrite : Port::AccWrite;
  }

  Client client_;
  size_t inFlight_, buffers_;
  uint64_t burstBytes_;
  std::deque<Flight> flights_;
  std::deque<Burst> bursts_; // in order of request
  size_t arriving_ = 0;      // bursts_ before it have had their last beat
  bool issuing_ = false;     // flights_.back() has bursts to request
  int64_t requestFrom_ = 0;  // the cycle of the first one, at the earliest
  timing::Runs runs_;        // of the issue stage
  uint64_t position_ = 0;    // next byte of the current run
  Pieces fill_;              // of the oldest flight, when it is a fill
  bool filling_ = false;
};

} // namespace tilewright::cycle
