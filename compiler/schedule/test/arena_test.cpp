#include "tilewright/compiler/schedule/arena.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace tilewright {

TEST(Arena, PutsBuffersInDifferentBanks) {
  Arena arena(1024, 256, 8);
  EXPECT_EQ(arena.allocate(64), 0);
  EXPECT_EQ(*arena.allocate(64) / 256, 1);
  EXPECT_EQ(*arena.allocate(64) / 256, 2);
}

TEST(Arena, DoesNotReuseWhatWasJustReleased) {
  Arena arena(512, 512, 8);
  int64_t first = *arena.allocate(64);
  arena.release(first);
  EXPECT_NE(arena.allocate(64), first);
}

TEST(Arena, ForgetsWhatItHeld) {
  Arena arena(1024, 256, 8);
  arena.release(*arena.allocate(64));
  arena.release(*arena.allocate(64));
  arena.forget();
  EXPECT_EQ(arena.allocate(64), 0);
}

TEST(Arena, LeavesRoomForAnotherOfItsKind) {
  Arena arena(1024, 1024, 8);
  int64_t first = *arena.allocate(432, Traffic::Streamed, Placement::Spread, 432);
  arena.release(first);
  int64_t second = *arena.allocate(432, Traffic::Streamed, Placement::Spread, 432);
  EXPECT_TRUE(second <= 1024 - 2 * 432 || second >= 432) << second;
  EXPECT_TRUE(arena.allocate(432, Traffic::Streamed, Placement::Spread, 432));
}

TEST(Arena, PackedDoesNotReuseWhatWasJustReleased) {
  Arena arena(512, 512, 8);
  int64_t first = *arena.allocate(64, Traffic::Streamed, Placement::Packed);
  arena.release(first);
  EXPECT_NE(arena.allocate(64, Traffic::Streamed, Placement::Packed), first);
}

TEST(Arena, WhatOthersReadStaysOutOfTheBanksThatTheMatrixUnitReads) {
  Arena arena(1024, 256, 8);
  const int64_t bank = *arena.allocate(64, Traffic::Matrix) / 256;
  for (Traffic traffic : {Traffic::Streamed, Traffic::Rare, Traffic::Streamed})
    EXPECT_NE(*arena.allocate(64, traffic) / 256, bank);
}

TEST(Arena, ALargeBufferMindsAllOfItsBanks) {
  Arena arena(1024, 256, 8);
  ASSERT_TRUE(arena.allocateAt(232, 8));
  arena.release(232);
  ASSERT_TRUE(arena.allocateAt(640, 64, Traffic::Matrix));
  // Behind what was released it would reach into the third bank.
  EXPECT_EQ(arena.allocate(300), 0);
}

TEST(Arena, WeightsOfWindowsStayOutOfTheBanksOfWhatTheyAreMultipliedBy) {
  Arena arena(1024, 256, 8);
  const int64_t bank = *arena.allocate(64, Traffic::Beside) / 256;
  // However many others there are: both are always read at the same time.
  for (int i = 0; i < 6; ++i)
    EXPECT_NE(*arena.allocate(64, i % 2 == 0 ? Traffic::Streamed : Traffic::Shared) / 256, bank);
}

TEST(Arena, WeightsThatStreamStayOutOfTheBanksOfActivations) {
  Arena arena(512, 256, 8);
  const int64_t bank = *arena.allocate(64, Traffic::Matrix) / 256;
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(*arena.allocate(64, Traffic::WeightStream) / 256, bank);
  EXPECT_EQ(*arena.allocate(64, Traffic::Matrix) / 256, bank);
}

TEST(Arena, WhatTheMatrixUnitReadsByTurnsIsSpread) {
  Arena arena(768, 256, 8);
  std::set<int64_t> banks;
  for (int i = 0; i < 3; ++i)
    banks.insert(*arena.allocate(64, Traffic::Shared) / 256);
  EXPECT_EQ(banks.size(), 3u);
  // Two that others read disturb each other less.
  Arena streamed(512, 256, 8);
  const int64_t shared = *streamed.allocate(64, Traffic::Shared) / 256;
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(*streamed.allocate(64, Traffic::Streamed) / 256, shared);
}

TEST(Arena, AlternateTakesBanksByTurns) {
  Arena arena(512, 256, 8);
  int64_t last = *arena.allocate(64, Traffic::Streamed, Placement::Alternate) / 256;
  for (int i = 0; i < 5; ++i) {
    const int64_t bank = *arena.allocate(64, Traffic::Streamed, Placement::Alternate) / 256;
    EXPECT_NE(bank, last);
    last = bank;
  }
}

TEST(Arena, AlternateLeavesWhatIsFreeInOnePiece) {
  Arena arena(512, 256, 8);
  const int64_t first = *arena.allocate(64, Traffic::Streamed, Placement::Alternate);
  arena.allocate(64, Traffic::Streamed, Placement::Alternate);
  arena.release(first);
  arena.allocate(64, Traffic::Streamed, Placement::Alternate);
  EXPECT_TRUE(arena.isFree(0, 192)) << "not behind what was just released";
}

TEST(Arena, TurnsGoesToTheBankThatItIsGiven) {
  Arena arena(1024, 256, 8);
  for (const int64_t bank : {2, 2, 0, 3, 0})
    EXPECT_EQ(*arena.allocate(64, Traffic::Streamed, Placement::Turns, 0, bank * 256) / 256, bank);
}

TEST(Arena, TurnsTakesTheFirstFreePlaceOfItsBank) {
  Arena arena(1024, 256, 8);
  auto allocate = [&] { return *arena.allocate(64, Traffic::Streamed, Placement::Turns, 0, 256); };
  const int64_t first = allocate();
  EXPECT_EQ(first, 256);
  EXPECT_EQ(allocate(), 320);
  arena.release(first);
  EXPECT_EQ(allocate(), first) << "though it was just released";
}

TEST(Arena, TurnsTakesAnotherBankWhereItsOwnIsFull) {
  Arena arena(512, 256, 8);
  ASSERT_TRUE(arena.allocateAt(256, 256));
  EXPECT_EQ(arena.allocate(64, Traffic::Streamed, Placement::Turns, 0, 256), 0);
}

// Between them large ones find their places, whatever comes and goes.
TEST(Arena, TurnsPutsSmallBuffersWhereLargeOnesDoNotStand) {
  constexpr int64_t bank = 4096, large = 2560;
  Arena arena(2 * bank, bank, 4);
  for (const int64_t bytes : {512, 40, 512, 4}) { // the smallest behind a large one
    const int64_t address =
        *arena.allocate(bytes, Traffic::Streamed, Placement::Turns, large, bank);
    EXPECT_GE(address, bank + large) << bytes;
    EXPECT_EQ(address < bank + large + 64, bytes < 64) << bytes;
  }
  for (const int64_t wanted : {int64_t(0), bank})
    EXPECT_EQ(arena.allocate(large, Traffic::Streamed, Placement::Turns, large, wanted), wanted);
}

TEST(Arena, GivesAnAddressThatIsFree) {
  Arena arena(512, 256, 8);
  EXPECT_TRUE(arena.allocateAt(64, 100));
  EXPECT_FALSE(arena.allocateAt(160, 8)) << "100 bytes are rounded up to 104";
  EXPECT_TRUE(arena.allocateAt(168, 8));
  EXPECT_EQ(arena.liveBytes(), 112);
}

TEST(Arena, MirrorsOntoWhatItWouldHaveGiven) {
  Arena arena(512, 256, 8);
  EXPECT_EQ(arena.mirror(0, 100), 512 - 104);
  EXPECT_EQ(arena.mirror(arena.mirror(64, 100), 100), 64);
}

TEST(Arena, AvoidsABankBoundary) {
  Arena arena(512, 256, 8);
  arena.allocate(200);
  arena.allocate(200);
  EXPECT_EQ(arena.allocate(100), std::nullopt) << "no free range of 100 bytes is left";
  Arena roomy(1024, 256, 8);
  roomy.allocate(200);
  EXPECT_EQ(*roomy.allocate(100) % 256, 0);
}

TEST(Arena, RefusesWhatDoesNotFit) {
  Arena arena(256, 256, 8);
  EXPECT_EQ(arena.allocate(257), std::nullopt);
  EXPECT_EQ(arena.liveBytes(), 0);
}

TEST(Arena, MergesWhatIsReleased) {
  Arena arena(256, 256, 8);
  int64_t a = *arena.allocate(128), b = *arena.allocate(128);
  arena.release(a);
  arena.release(b);
  EXPECT_EQ(arena.largestFree(), 256);
}

TEST(Arena, NeverOverlapsLiveBuffers) {
  std::mt19937 random(1);
  Arena arena(19200 * 5, 19200, 8);
  std::map<int64_t, int64_t> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.size() > 6 || (!live.empty() && random() % 2)) {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      arena.release(victim->first);
      live.erase(victim);
    } else {
      int64_t bytes = 1 + static_cast<int64_t>(random() % 20000);
      if (auto address = arena.allocate(bytes)) {
        auto next = live.lower_bound(*address);
        ASSERT_TRUE(next == live.end() || *address + bytes <= next->first);
        ASSERT_TRUE(next == live.begin() ||
                    std::prev(next)->first + std::prev(next)->second <= *address);
        live[*address] = bytes;
      }
    }
    ASSERT_TRUE(arena.verify());
  }
  EXPECT_GE(arena.highWater(), arena.peakBytes());
}

} // namespace tilewright
