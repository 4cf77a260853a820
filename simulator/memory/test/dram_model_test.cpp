// Rows DRAM-* of docs/microarchitecture.md, each pinned from both sides, on a device with numbers
// that can be added in the head.
#include "tilewright/simulator/memory/dram_model.h"

#include "tilewright/testing/overlaid.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace tilewright {
namespace {

// Eight banks of 4 KiB rows; accesses of 64 bytes take 8 cycles of the bus.
DramConfig device() {
  DramConfig config;
  config.busBytes = 8;
  config.accessBytes = 64;
  config.banks = 8;
  config.rowBytes = 4096;
  config.request = 5;
  config.response = 3;
  config.tCL = 20;
  config.tCWL = 10;
  config.tRCD = 18;
  config.tRP = 17;
  config.tRAS = 42;
  config.tRRD = 10;
  config.tFAW = 60;
  config.tRTP = 7;
  config.tWR = 19;
  config.tWTR = 11;
  config.tRTW = 4;
  config.writeQueue = 4;
  config.writeHigh = 1;
  config.writeLow = 0;
  return config;
}

constexpr uint64_t row = 4096, sameBank = 8 * row;
// From arrival to the last beat of 64 bytes: row closed, row open.
constexpr int64_t closed = 5 + 18 + 20 + 7 + 3 + 1, open = 5 + 20 + 7 + 3 + 1;

TEST(Dram, IdealAnswersInTheNextCycle) {
  DramConfig config;
  config.busBytes = config.accessBytes = 8;
  DramModel dram(config);
  EXPECT_EQ(dram.read(10, 0, 8), 11);
  EXPECT_EQ(dram.read(20, 0, 256), 52);
  EXPECT_EQ(dram.read(20, 256, 8), 53) << "the bus is busy until 51";
  EXPECT_EQ(dram.write(60, 0, 8), 61);
}

TEST(Dram, DramMissActivatesAndDramHitDoesNot) {
  DramModel dram(device());
  EXPECT_EQ(dram.read(0, 0, 64), closed);
  EXPECT_EQ(dram.read(200, 64, 64), 200 + open);
  EXPECT_EQ(dram.rowMisses(), 1u);
  EXPECT_EQ(dram.rowHits(), 1u);
}

TEST(Dram, DramMissOfAnOpenRowPrechargesFirst) {
  DramModel dram(device());
  dram.read(0, 0, 64);
  EXPECT_EQ(dram.read(200, sameBank, 64), 200 + closed + 17);
}

TEST(Dram, DramMissWaitsForTRas) {
  // The activate of the first is in cycle 5; the row may be closed 42 later, in 47. Asked for at 47
  // it is closed at once, before that not.
  for (int64_t t : {10, 41, 42, 43}) {
    DramModel dram(device());
    dram.read(0, 0, 64);
    EXPECT_EQ(dram.read(t, sameBank, 64), std::max<int64_t>(t + 5, 47) + 17 + closed - 5) << t;
  }
}

TEST(Dram, DramMissWaitsForTWrAfterAWrite) {
  // Write data of row 0 are on the bus from 5 + 18 + 10 = 33 to 40; the row may be closed 19 after
  // that, from 60 on.
  for (int64_t t : {50, 54, 55, 56}) {
    DramModel dram(device());
    dram.write(0, 0, 64);
    EXPECT_EQ(dram.read(t, sameBank, 64), std::max<int64_t>(t + 5, 60) + 17 + closed - 5) << t;
  }
}

TEST(Dram, DramActivatesAreTRrdApart) {
  DramModel dram(device());
  EXPECT_EQ(dram.read(0, 0, 64), closed);
  EXPECT_EQ(dram.read(0, row, 64), closed + 10);
}

TEST(Dram, DramActivatesFitTheirWindow) {
  DramModel dram(device());
  for (uint64_t bank = 0; bank < 4; ++bank)
    EXPECT_EQ(dram.read(0, bank * row, 64), closed + static_cast<int64_t>(bank) * 10);
  EXPECT_EQ(dram.read(0, 4 * row, 64), closed + 60)
      << "the fifth waits for tFAW after the first, not 40";
}

TEST(Dram, DramBusServesInOrderWithoutAGapToOpenRows) {
  DramModel dram(device());
  const int64_t first = dram.read(0, 0, 256);
  EXPECT_EQ(first, closed + 24);
  EXPECT_EQ(dram.read(1, 256, 256), first + 32);
}

TEST(Dram, DramBusMovesWholeAccesses) {
  DramModel dram(device());
  EXPECT_EQ(dram.read(0, 8, 8), closed);
  EXPECT_EQ(dram.read(0, 60, 8), closed + 16)
      << "two accesses for eight bytes across their boundary";
}

TEST(Dram, DramNextRowOpensWhileDataAreOnTheBus) {
  DramModel dram(device());
  const int64_t first = dram.read(0, 4096 - 256, 256);
  EXPECT_EQ(dram.read(1, 4096, 256), first + 32) << "another bank: its activate is hidden";
}

TEST(Dram, DramReadFollowsWriteDataByTWtr) {
  DramModel dram(device());
  dram.write(0, 0, 64); // data until 40
  EXPECT_EQ(dram.read(20, 64, 64), 41 + 11 + 20 + 7 + 3 + 1);
  DramModel late(device());
  late.write(0, 0, 64);
  EXPECT_EQ(late.read(47, 64, 64), 47 + open) << "column command in 52: tWTR is over";
}

TEST(Dram, DramWriteFollowsReadDataByTRtw) {
  DramConfig config = device();
  config.writeQueue = config.writeHigh = 1;
  DramModel dram(config);
  dram.read(0, 0, 64);   // data from 43 to 50
  dram.write(1, 64, 64); // data from 51 + 4 = 55 to 62
  EXPECT_EQ(dram.read(2, 128, 64), 63 + 11 + 20 + 7 + 3 + 1);
}

TEST(Dram, DramWriteIsAnsweredWhenItIsHeld) {
  DramModel dram(device());
  EXPECT_EQ(dram.write(100, 0, 64), 100 + 5 + 3 + 1);
}

TEST(Dram, DramWriteWaitsForAFreeEntry) {
  DramModel dram(device());
  int64_t response = 0;
  for (int i = 0; i < 4; ++i)
    response = dram.write(i, static_cast<uint64_t>(i) * 64, 64);
  EXPECT_EQ(response, 3 + 5 + 3 + 1);
  // The first leaves with its last data, in cycle 40.
  EXPECT_EQ(dram.write(4, 256, 64), 40 + 3 + 1);
}

TEST(Dram, DramDrainStartsAtTheHighMark) {
  DramConfig config = device();
  config.writeQueue = 8;
  config.writeHigh = 4;
  config.writeLow = 1;
  config.writeIdle = 1000000;
  DramModel dram(config);
  for (int i = 0; i < 3; ++i)
    dram.write(i, static_cast<uint64_t>(i) * 64, 64);
  EXPECT_EQ(dram.rowMisses() + dram.rowHits(), 0u) << "held";
  dram.write(3, 192, 64);
  EXPECT_EQ(dram.rowMisses() + dram.rowHits(), 3u) << "one is left";
}

TEST(Dram, DramDrainOfAnIdleBus) {
  DramConfig config = device();
  config.writeHigh = 4;
  config.writeIdle = 100;
  for (int64_t t : {105, 106}) {
    DramModel dram(config);
    dram.write(0, 0, 64); // may go in cycle 5 + 100
    dram.read(t, 64, 64);
    EXPECT_EQ(dram.rowHits(), t > 105 ? 1u : 0u) << t;
  }
}

TEST(Dram, DramRefreshClosesTheRows) {
  DramConfig config = device();
  config.tREFI = 1000;
  config.tRFC = 200;
  DramModel dram(config);
  EXPECT_EQ(dram.read(900, 0, 64), 900 + closed);
  EXPECT_EQ(dram.read(994, 0, 64), 994 + open)
      << "the column command is in 999, the refresh is due in 1000";
  EXPECT_EQ(dram.refreshes(), 0u);
  DramModel other(config);
  other.read(900, 0, 64);
  EXPECT_EQ(other.read(995, 0, 64), 1000 + 17 + 200 + closed - 5);
  EXPECT_EQ(other.refreshes(), 1u);
}

TEST(Dram, DramRefreshesOfAnIdleTimeAreCounted) {
  DramConfig config = device();
  config.tREFI = 1000;
  config.tRFC = 200;
  DramModel dram(config);
  EXPECT_EQ(dram.read(100500, 0, 64), 100500 + closed);
  EXPECT_EQ(dram.refreshes(), 100u);
}

TEST(Dram, BankBitsArePermutedByTheRow) {
  DramConfig config = device();
  config.bankXor = true;
  DramModel dram(config);
  dram.read(0, 0, 64);
  EXPECT_EQ(dram.read(200, sameBank, 64), 200 + closed) << "another bank: nothing to precharge";
}

// edge16 with patches on its target and its DRAM preset.
isa::Isa load(const std::string &target = "{}", const std::string &dram = "{}") {
  return overlaid("target: " + target + "\ndram: " + dram);
}

// Bytes a cycle of a stream of bursts of `bytes`, `outstanding` on the way, as a share of the bus.
double efficiency(const DramConfig &config, int64_t bytes, size_t outstanding, bool writesToo) {
  DramModel dram(config);
  std::vector<int64_t> done;
  int64_t t = 0;
  const int bursts = 4000;
  for (int i = 0; i < bursts; ++i) {
    if (done.size() >= outstanding)
      t = std::max(t + 1, done[done.size() - outstanding] + 1);
    const uint64_t address = static_cast<uint64_t>(i) * static_cast<uint64_t>(bytes);
    done.push_back(dram.read(t, address, bytes));
    if (writesToo)
      dram.write(t, address + (uint64_t(1) << 28), bytes);
  }
  return static_cast<double>(bursts * bytes * (writesToo ? 2 : 1)) /
         static_cast<double>(done.back() * config.busBytes);
}

TEST(DramPresets, Lpddr4StreamsWithRealisticEfficiency) {
  const DramConfig config = DramConfig::of(load());
  const double stream = efficiency(config, 256, 8, false);
  EXPECT_GT(stream, 0.85);
  EXPECT_LT(stream, 0.93) << "refresh alone takes 7 %";
  // Bursts of 16 bytes waste three quarters of each access of 64.
  EXPECT_LT(efficiency(config, 16, 8, false), 0.25);
  const double mixed = efficiency(config, 256, 8, true);
  EXPECT_GT(mixed, 0.65);
  EXPECT_LT(mixed, stream);
}

TEST(DramPresets, TimesBecomeCyclesRoundedUp) {
  const DramConfig config = DramConfig::of(load());
  EXPECT_EQ(config.tRCD, 18) << "18 ns at 1 GHz";
  EXPECT_EQ(config.tRTP, 8) << "7.5 ns, rounded up";
  EXPECT_EQ(DramConfig::of(load("{ clock_hz: \"500000000\" }")).tRCD, 9);
}

TEST(DramPresets, AllStream) {
  for (const char *name : {"ideal", "lpddr4", "ddr4", "hbm2"}) {
    for (const char *bus : {"8", "64"}) {
      const DramConfig config = DramConfig::of(
          load(std::string("{ dram: \"") + name + "\", params: { bus_bytes: \"" + bus + "\" } }"));
      const double stream = efficiency(config, 256, 64, false);
      EXPECT_GT(stream, 0.85) << name << ", bus of " << bus;
      EXPECT_LE(stream, 1.0) << name << ", bus of " << bus;
    }
  }
}

} // namespace
} // namespace tilewright
