#include "tilewright/compiler/schedule/bank_places.h"

#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

constexpr BankedMemory fourBanks{4000, 1000, 8};

int64_t bankOf(const PlacedBuffer &buffer) { return buffer.address / fourBanks.bankBytes; }

} // namespace

TEST(BankPlaces, BuffersThatConflictComeToLieInTwoBanks) {
  std::vector<PlacedBuffer> buffers{{0, 200}, {200, 200}, {400, 200}};
  EXPECT_TRUE(moveApart(fourBanks, {{0, 1, 50}}, buffers));
  EXPECT_NE(bankOf(buffers[0]), bankOf(buffers[1]));
  EXPECT_EQ(buffers[2].address, 400);
}

TEST(BankPlaces, BuffersWithoutConflictsStay) {
  std::vector<PlacedBuffer> buffers{{0, 200}, {1000, 200}};
  EXPECT_FALSE(moveApart(fourBanks, {{0, 1, 50}}, buffers));
  EXPECT_EQ(buffers[0].address, 0);
  EXPECT_EQ(buffers[1].address, 1000);
}

TEST(BankPlaces, InAFullMemoryTheyChangePlaces) {
  std::vector<PlacedBuffer> buffers;
  for (int64_t address = 0; address < 4000; address += 500)
    buffers.push_back({address - address / 500 % 2 * 4, 496}); // in multiples of 8
  EXPECT_TRUE(moveApart(fourBanks, {{0, 1, 50}}, buffers));
  EXPECT_NE(bankOf(buffers[0]), bankOf(buffers[1]));
}

TEST(BankPlaces, BuffersOnTheSameBytesMoveTogether) {
  std::vector<PlacedBuffer> buffers{{0, 200}, {200, 400}, {304, 96}};
  EXPECT_TRUE(moveApart(fourBanks, {{0, 2, 50}}, buffers));
  EXPECT_NE(bankOf(buffers[0]), bankOf(buffers[2]));
  EXPECT_EQ(buffers[2].address - buffers[1].address, 104);
}

TEST(BankPlaces, TheGreaterConflictDecides) {
  // Three in two banks: the two that conflict most lie apart.
  std::vector<PlacedBuffer> buffers{{0, 400}, {400, 400}, {1000, 500}};
  moveApart({2000, 1000, 8}, {{0, 1, 500}, {0, 2, 10}, {1, 2, 20}}, buffers);
  EXPECT_NE(bankOf(buffers[0]), bankOf(buffers[1]));
}

TEST(BankPlaces, OneBankLeavesThemWhereTheyAre) {
  std::vector<PlacedBuffer> buffers{{0, 200}, {200, 200}};
  EXPECT_FALSE(moveApart({1000, 1000, 8}, {{0, 1, 50}}, buffers));
}

TEST(BankPlaces, NoTwoOverlapAndAllLieInside) {
  std::mt19937 random(7);
  auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % bound); };
  for (int round = 0; round < 200; ++round) {
    std::vector<PlacedBuffer> buffers;
    for (int64_t at = 8 * below(20); at < 3900;) {
      const int64_t bytes = 8 * (1 + below(below(4) == 0 ? 180 : 30));
      if (at + bytes > 4000)
        break;
      buffers.push_back({at, bytes - below(8)});
      at += bytes + 8 * below(10);
    }
    std::vector<BankConflict> conflicts;
    for (size_t i = 0; i < 3 * buffers.size(); ++i)
      if (const size_t a = random() % buffers.size(), b = random() % buffers.size(); a != b)
        conflicts.push_back({a, b, static_cast<double>(below(100))});
    moveApart(fourBanks, conflicts, buffers);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_GE(buffers[a].address, 0);
      EXPECT_LE(buffers[a].address + buffers[a].bytes, 4000);
      for (size_t b = 0; b < a; ++b)
        EXPECT_TRUE(buffers[a].address + buffers[a].bytes <= buffers[b].address ||
                    buffers[b].address + buffers[b].bytes <= buffers[a].address);
    }
  }
}

} // namespace tilewright
