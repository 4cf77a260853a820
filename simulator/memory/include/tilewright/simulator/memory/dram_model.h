// The DRAM of every engine: deterministic, without a clock. Each burst is timed when it arrives
// (docs/microarchitecture.md, "AXI and DRAM").
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace tilewright {

// A preset of isa/dram resolved for a machine. Times in core cycles, rounded up.
struct DramConfig {
  int64_t busBytes = 8;
  int64_t accessBytes = 8;
  int64_t banks = 1;
  int64_t rowBytes = 4096;
  bool bankXor = false;
  int64_t request = 0, response = 0;
  int64_t tCL = 0, tCWL = 0, tRCD = 0, tRP = 0, tRAS = 0, tRRD = 0, tFAW = 0, tRTP = 0, tWR = 0,
          tWTR = 0, tRTW = 0;
  int64_t tREFI = 0, tRFC = 0; // tREFI 0: no refresh
  int64_t writeQueue = 16, writeHigh = 1, writeLow = 0, writeIdle = 0;

  static DramConfig of(const isa::Isa &isa);
};

// Bursts must come in order of arrival, reads before writes of the same cycle, and cross no row
// (AXI bursts do not).
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

  uint64_t rowHits() const { return rowHits_; }
  uint64_t rowMisses() const { return rowMisses_; }
  uint64_t refreshes() const { return refreshes_; }

private:
  struct Bank {
    int64_t row = -1;      // open row, -1: none
    int64_t activated = 0; // cycle of its last activate
    int64_t precharge = 0; // earliest precharge
    int64_t activate = 0;  // earliest activate
  };
  struct Write {
    int64_t arrival;
    uint64_t address;
    int64_t bytes;
  };
  int64_t schedule(int64_t earliest, uint64_t address, int64_t bytes, bool isWrite);
  int64_t columnReady(int64_t earliest, const Bank &bank, int64_t row) const;
  void refresh();
  void skipIdleRefreshes(int64_t earliest);
  void writeBackIdle(int64_t t);
  void writeBackOldest(int64_t earliest);

  DramConfig config_;
  std::vector<Bank> banks_;
  std::array<int64_t, 4> activates_; // the last four, for tFAW
  int next_ = 0;                     // oldest of activates_
  int64_t lastActivate_;
  int64_t busFree_ = 0; // first cycle in which the data bus is free
  int64_t lastReadEnd_; // last data cycle of a read, of a write
  int64_t lastWriteEnd_;
  int64_t refreshDue_;
  std::deque<Write> held_;      // posted, not written back
  std::deque<int64_t> leaving_; // written back: the cycle in which each leaves the controller
  int64_t lastResponse_ = -1;
  uint64_t rowHits_ = 0, rowMisses_ = 0, refreshes_ = 0;
};

} // namespace tilewright
