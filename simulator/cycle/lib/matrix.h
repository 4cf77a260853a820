// The matrix unit: rows MAT-* of docs/microarchitecture.md. A streamer of activation rows, a loader
// of weight rows, and the accumulator accesses that follow the rows `matrix.pipeline` cycles later.
#pragma once

#include "unit.h"

#include "tilewright/simulator/timing/blocks.h"

namespace tilewright::cycle {

class Matrix : public Unit {
public:
  Matrix(Shared &shared, const isa::Unit &unit);
  void step(int64_t t);
  int64_t steadyCycles(int64_t t, PortUse &use);
  void skip(int64_t t, int64_t n);
  bool idle() const {
    return queue_.empty() && !started_ && !loader_.active && !ending_ && flightCount_ == 0;
  }
  Blocked blocked() const;

private:
  // The nest of rows of an mmul: activations and accumulators of row (y, x). Of a window: its
  // sweeps and what they read; the accumulators are those of the first output.
  struct Streamer {
    bool active = false;
    InstructionRecord *record = nullptr;
    uint32_t signal = 0;
    int64_t rowsLeft = 0;
    int dimensions = 0;
    std::array<int64_t, isa::limits::iterators.count()> extents{}, index{}, activationStride{},
        accumulatorStride{};
    int64_t activation = 0, accumulator = 0; // byte addresses of the current row
    int64_t activationBytes = 0, accumulatorBytes = 0;
    bool accumulate = false;
    BankMask activationBanks = 0;
    std::optional<timing::ColumnBroadcastWalk> window;
    std::array<int64_t, 2> outputStride{}; // of a window
  };
  // An output-stationary product: the block, and the cycle of it that is at work.
  struct OutputStationary {
    bool active = false;
    InstructionRecord *record = nullptr;
    timing::Blocks blocks;
    int64_t block = 0, cycle = 0;
    bool hasActivations = false, hasWeights = false; // of this cycle: granted
    BankMask activationBanks = 0, weightBanks = 0;
  };
  struct Loader {
    bool active = false;
    InstructionRecord *record = nullptr;
    uint32_t signal = 0;
    int64_t rowsLeft = 0;
    int64_t address = 0, stride = 0, bytes = 0;
    BankMask banks = 0;
  };
  // An mmul begun and not ended.
  struct Flight {
    InstructionRecord *record = nullptr;
    uint32_t signal = 0;
    int64_t ready = 0; // cycle of its last write, once the last row is issued
    BankMask accumulatorBanks = 0;
  };

  bool headStarts() const {
    return !started_ && !queue_.empty() && (queue_.head().isSet() ? canSet() : canAcquire());
  }
  void startHead(int64_t t);
  // Whether what started is at work from cycle t + 1 on.
  bool enters(int64_t t) const;
  void enter(int64_t t);
  void startStreamer(const DispatchedInstruction &dispatched, int64_t t);
  void walkRows(const timing::StepTiming &step, const timing::Walk &a, const timing::Walk &d,
                const isa::ScalarContext &scalars);
  void walkColumnBroadcast(const timing::ColumnBroadcastWalk &window, const timing::Walk &a,
                           const timing::Walk &d);
  void startOutputStationary(const DispatchedInstruction &dispatched, int64_t t);
  bool isStreaming() const { return streamer_.active || outputStationary_.active; }
  void startLoader(const DispatchedInstruction &dispatched);
  bool stream(int64_t t);
  bool stepBlock(int64_t t);
  void finishCycle(int64_t t);
  // Whether the block's last cycle may be cycle t: its sums follow those that came before.
  bool mayLeave(int64_t t) const { return t + pipeline_ > accessesUntil_; }
  bool load();
  void accumulateAccesses(int64_t t);
  // Whether the row that is read now begins a sum, and where that is written.
  bool beginsSum() const {
    return !streamer_.window || streamer_.window->begins(streamer_.index[0], streamer_.index[1]);
  }
  int64_t sumAddress() const;
  void issueRow(int64_t g);
  void reportRow(int64_t g);
  void advanceRow();
  void seekRows(int64_t n);
  Flight &flight(size_t i) { return flights_[(firstFlight_ + i) % flights_.size()]; }
  const Flight &flight(size_t i) const { return flights_[(firstFlight_ + i) % flights_.size()]; }
  Activity waiting(InstructionRecord *ending, InstructionRecord *oldest, size_t inFlight) const;

  int64_t pipeline_;
  int64_t arrayRows_;
  Streamer streamer_;
  OutputStationary outputStationary_;
  Loader loader_;
  std::vector<Flight> flights_;
  size_t firstFlight_ = 0, flightCount_ = 0;
  // Accumulator ports that are taken in cycles to come, by cycle modulo the size.
  std::vector<BankMask> reads_, writes_;
  int64_t accessesUntil_ = -1; // the last cycle with one
};

} // namespace tilewright::cycle
