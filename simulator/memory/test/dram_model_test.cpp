// Rows DRAM-* of docs/microarchitecture.md, each pinned from both sides, on a device with numbers
// that can be added in the head.
#include "tilewright/simulator/memory/dram_model.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

// Eight banks of 4 KiB rows; accesses of 64 bytes take 8 cycles of the data bus, as of the port.
DramConfig device() {
  DramConfig config;
  config.busBytes = 8;
  config.accessBytes = 64;
  config.accessTicks = 8 * DramConfig::ticksPerCycle;
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

TEST(Dram, DramPathMovesWholeBeats) {
  DramConfig config = device();
  config.busBytes = 128; // two accesses
  EXPECT_EQ(DramModel(config).read(0, 0, 2), DramModel(config).read(0, 0, 128));
  EXPECT_GT(DramModel(config).read(0, 0, 2), DramModel(config).read(0, 64, 2));
  DramModel some(config), all(config);
  some.write(0, 0, 2);
  all.write(0, 0, 128);
  EXPECT_EQ(some.read(1, 256, 128), all.read(1, 256, 128));
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

TEST(Dram, DramPathMovesABeatACycleFromAFastChannel) {
  DramConfig config = device();
  config.accessTicks = 2 * DramConfig::ticksPerCycle;
  DramModel dram(config);
  // Data from 43 to 50; beats from 47 on.
  const int64_t first = dram.read(0, 0, 256);
  EXPECT_EQ(first, 5 + 18 + 20 + 32 + 3);
  EXPECT_EQ(dram.read(1, 256, 256), first + 32) << "its data are there at 59";
  EXPECT_EQ(dram.read(200, 512, 8), 200 + 5 + 20 + 2 + 3) << "a beat behind the whole access";
}

TEST(Dram, DramBusOfASlowChannelLimits) {
  DramConfig config = device();
  config.accessTicks = 20 * DramConfig::ticksPerCycle;
  DramModel dram(config);
  const int64_t first = dram.read(0, 0, 256);
  EXPECT_EQ(first, 5 + 18 + 20 + 4 * 20 + 3);
  EXPECT_EQ(dram.read(1, 256, 256), first + 4 * 20);
}

TEST(Dram, DramBusKeepsPartsOfACycle) {
  DramConfig config = device();
  config.accessTicks = 10 * DramConfig::ticksPerCycle / 3 + 1;
  config.busBytes = 64;
  DramModel dram(config);
  const int64_t first = dram.read(0, 0, 64);
  EXPECT_EQ(first, 5 + 18 + 20 + 4 + 3);
  int64_t last = first;
  for (uint64_t i = 1; i <= 30; ++i)
    last = dram.read(0, i * 64, 64);
  EXPECT_EQ(last, first + 100) << "30 of them, not of 4 cycles each";
}

TEST(Dram, DramPathIsSharedByReadsAndWrites) {
  DramConfig config;
  config.busBytes = config.accessBytes = 8;
  DramModel dram(config);
  dram.write(0, 0, 256); // beats until 31
  EXPECT_EQ(dram.read(1, 4096, 8), 33);
  EXPECT_EQ(dram.read(2, 4096, 8), 34);
}

// Two channels that take turns every 256 bytes.
DramConfig twoChannels() {
  DramConfig config = device();
  config.channels = 2;
  config.interleaveBytes = 256;
  return config;
}

TEST(Dram, DramChannelsMoveDataAtTheSameTime) {
  DramConfig config = twoChannels();
  config.busBytes = 16; // as wide as both
  DramModel dram(config);
  EXPECT_EQ(dram.read(0, 0, 256), 5 + 18 + 20 + 32 + 3);
  EXPECT_EQ(dram.read(0, 256, 256), 5 + 18 + 20 + 32 + 16 + 3) << "its beats follow the other's";
  DramModel one(twoChannels());
  one.read(0, 0, 256);
  EXPECT_EQ(one.read(0, 512, 256), 5 + 18 + 20 + 2 * 32 + 3) << "the same channel";
}

TEST(Dram, DramChannelsShareABurst) {
  DramConfig config = twoChannels();
  config.interleaveBytes = 64;
  config.busBytes = 16;
  DramModel dram(config);
  EXPECT_EQ(dram.read(0, 0, 256), 5 + 18 + 20 + 8 + 12 + 3)
      << "12 beats behind those of the first access";
  EXPECT_EQ(dram.read(1, 256, 256), 5 + 18 + 20 + 8 + 12 + 3 + 16);
  EXPECT_EQ(dram.rowMisses(), 2u) << "a row in each channel";
  EXPECT_EQ(dram.rowHits(), 6u);
}

TEST(Dram, DramChannelsHoldTheirAddressesWithoutGaps) {
  DramModel dram(twoChannels());
  dram.read(0, 0, 64);
  dram.read(200, 2 * row - 512, 64); // the last 256 bytes of the first channel's row
  EXPECT_EQ(dram.rowHits(), 1u);
  dram.read(400, 2 * row, 64); // its next row
  dram.read(600, 256, 64);     // the other channel
  EXPECT_EQ(dram.rowMisses(), 3u);
}

TEST(Dram, DramChannelsRefreshAtTheSameTime) {
  DramConfig config = twoChannels();
  config.tREFI = 1000;
  config.tRFC = 200;
  DramModel dram(config);
  dram.read(900, 0, 64);
  EXPECT_EQ(dram.read(995, 64, 64), 1000 + 17 + 200 + closed - 5);
  EXPECT_EQ(dram.read(996, 256, 64), 1000 + 17 + 200 + closed - 5 + 8);
  EXPECT_EQ(dram.refreshes(), 2u);
}

TEST(Dram, DramWritesOfAFastChannelTakeThePathsTime) {
  DramConfig config = device();
  config.accessTicks = DramConfig::ticksPerCycle;
  DramModel dram(config);
  dram.write(0, 0, 256); // beats from 5 to 36; data until 36
  EXPECT_EQ(dram.read(1, 256, 64), 37 + 11 + 20 + 8 + 3);
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

} // namespace
} // namespace tilewright
