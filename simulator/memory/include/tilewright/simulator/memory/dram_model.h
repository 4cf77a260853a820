// The DRAM of every engine: deterministic, without a clock. Each burst is timed when it arrives
// (docs/microarchitecture.md, "AXI and DRAM").
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace tilewright {

// A preset of isa/dram resolved for a machine. Times in core cycles, rounded up, unless said.
struct DramConfig {
  // A data bus is free at any time, not only at edges of the core clock: its times are in ticks.
  static constexpr int tickBits = 16;
  static constexpr int64_t ticksPerCycle = int64_t(1) << tickBits;

  int64_t busBytes = 8; // of the port to the core, a cycle
  int64_t channels = 1;
  int64_t interleaveBytes = 4096; // that stand in one channel, before the next one's
  int64_t accessBytes = 8;        // the least that a channel moves
  int64_t accessTicks = 0;        // that it takes on the channel's data bus, rounded up
  int64_t banks = 1;              // of a channel
  int64_t rowBytes = 4096;        // of a bank
  bool bankXor = false;
  int64_t request = 0, response = 0;
  int64_t tCL = 0, tCWL = 0, tRCD = 0, tRP = 0, tRAS = 0, tRRD = 0, tFAW = 0, tRTP = 0, tWR = 0,
          tWTR = 0, tRTW = 0;
  int64_t tREFI = 0, tRFC = 0; // tREFI 0: no refresh
  int64_t writeQueue = 16, writeHigh = 1, writeLow = 0, writeIdle = 0;

  static DramConfig of(const isa::Isa &isa);
};

// Bursts must come in order of arrival, reads before writes of the same cycle, and cross no row of
// a DRAM of one channel (AXI bursts do not).
class DramModel {
public:
  explicit DramModel(const DramConfig &config);

  // The cycle in which the last beat of the read burst that arrives in cycle `t` is on the bus; its
  // beats come in consecutive cycles.
  int64_t read(int64_t t, uint64_t address, int64_t bytes);
  // The cycle of the response to the write burst whose last beat arrives in cycle `t`.
  int64_t write(int64_t t, uint64_t address, int64_t bytes);
  // Beats of the AXI bus that [address, address + bytes) takes.
  int64_t beats(uint64_t address, int64_t bytes) const;

  // Of all channels; a burst has one of the two in each channel that it touches.
  uint64_t rowHits() const { return rowHits_; }
  uint64_t rowMisses() const { return rowMisses_; }
  uint64_t refreshes() const { return refreshes_; }

private:
  using Tick = __int128; // a run may have more cycles than 64 bits count ticks
  struct Bank {
    int64_t row = -1;      // open row, -1: none
    int64_t activated = 0; // cycle of its last activate
    int64_t precharge = 0; // earliest precharge
    int64_t activate = 0;  // earliest activate
  };
  struct Channel {
    std::vector<Bank> banks;
    std::array<int64_t, 4> activates{}; // the last four, for tFAW
    size_t next = 0;                    // oldest of activates
    int64_t lastActivate = 0;
    Tick busFree = 0;                  // from which on the data bus is free
    int64_t readEnd = 0, writeEnd = 0; // the cycle after the last data of a read, of a write
    int64_t refreshDue = 0;
  };
  struct Write {
    int64_t arrival;
    uint64_t address;
    int64_t bytes;
  };
  // What of a burst one channel moves.
  struct Part {
    Channel *channel;
    uint64_t local; // address within the channel
    int64_t bytes;
    int64_t beatsFrom, beatsAfter; // of the burst: from its first byte on, behind its last one
  };
  // Of data on a channel's bus: the cycles from which on the first, and all of it, has begun and
  // ended; with ticks, rounded up.
  struct Transfer {
    int64_t begin, end;
  };
  // A burst ends with its last beat: what AXI4 asks for are beats, whatever of them is of use.
  int64_t inWholeBeats(uint64_t address, int64_t bytes) const;
  template <typename Visit> void forEachPart(uint64_t address, int64_t bytes, Visit visit);
  int64_t accesses(const Part &part) const;
  Transfer schedule(int64_t earliest, const Part &part, bool isWrite, Tick dataFrom);
  int64_t columnReady(int64_t earliest, const Channel &channel, const Bank &bank,
                      int64_t row) const;
  void refresh(Channel &channel);
  void skipIdleRefreshes(Channel &channel, int64_t earliest);
  void writeBackIdle(int64_t t);
  void writeBackOldest(int64_t earliest);

  DramConfig config_;
  std::vector<Channel> channels_;
  int64_t pathFree_ = 0; // first cycle in which the path between the port and the channels is free
  int64_t lastData_ = 0; // the cycle after the last data on any bus
  std::deque<Write> held_;      // posted, not written back
  std::deque<int64_t> leaving_; // written back: the cycle in which each leaves the controller
  int64_t lastResponse_ = -1;
  uint64_t rowHits_ = 0, rowMisses_ = 0, refreshes_ = 0;
};

} // namespace tilewright
