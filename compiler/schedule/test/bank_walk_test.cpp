#include "bank_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

// Every position of small walks, one by one, beside the stretches that are given for them.
TEST(BankWalk, StretchesAreWhatPositionsTouch) {
  std::mt19937 draw(1);
  auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(draw);
  };
  int crossing = 0;
  for (int round = 0; round < 2000; ++round) {
    const int levels = static_cast<int>(between(0, 3));
    const BankSize bank(between(0, 1) == 0 ? 64 : 60);
    PerLevel extents{}, strides{};
    int64_t positions = 1;
    for (size_t i = 0; i < static_cast<size_t>(levels); ++i) {
      extents[i] = between(1, 5);
      strides[i] = between(-40, 40);
      positions *= extents[i];
    }
    const int64_t address = between(700, 1200), bytes = between(1, 24);
    BankWalk<1> walk(levels, extents);
    walk.add(address, 0, bytes, strides, bank);

    std::vector<BankMask> found;
    walk.forEachStretch([&](int level, int64_t, int64_t count, const BankWalk<1>::Masks &banks) {
      found.insert(found.end(), static_cast<size_t>(count * walk.positionsWithin(level)), banks[0]);
    });
    ASSERT_EQ(static_cast<int64_t>(found.size()), positions) << round;
    BankMask all = 0;
    for (int64_t position = 0; position < positions; ++position) {
      int64_t at = address, rest = position;
      for (int i = levels - 1; i >= 0; --i) {
        at += rest % extents[static_cast<size_t>(i)] * strides[static_cast<size_t>(i)];
        rest /= extents[static_cast<size_t>(i)];
      }
      const BankMask touched = bank.mask(at, at + bytes);
      all |= touched;
      ASSERT_EQ(found[static_cast<size_t>(position)], touched)
          << fmt::format("round {}, position {}", round, position);
    }
    ASSERT_EQ(walk.all(0) & all, all) << round;
    crossing += isSeveral(all);
  }
  EXPECT_GT(crossing, 500);
}

TEST(BankWalk, PlacesOutsideAMemoryCountAsItsEnds) {
  const BankSize bank(1024);
  EXPECT_EQ(bank.mask(-5000, -4000), BankMask(1));
  EXPECT_EQ(bank.mask(int64_t(1) << 40, (int64_t(1) << 40) + 16), BankMask(1) << 63);
  EXPECT_EQ(bank.mask(-5000, int64_t(1) << 40), ~BankMask(0));
  EXPECT_EQ(BankSize(1000).index(-1), -1);
  EXPECT_EQ(BankSize(1000).index(-1000), -1);
  EXPECT_EQ(BankSize(1000).index(-1001), -2);
}

} // namespace tilewright
