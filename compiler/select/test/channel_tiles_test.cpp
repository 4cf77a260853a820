// ctest -R ChannelTiles: in which order channels need the least.
#include "../lib/channel_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tilewright {
namespace {

llvm::BitVector only(unsigned size, unsigned bit) {
  llvm::BitVector bits(size);
  bits.set(bit);
  return bits;
}

// Channels of `groups` groups of `each` between two convolutions and a shuffle, as the first one
// makes them; squares of `tile` by `tile`.
std::vector<ChannelNeeds> shuffled(int64_t groups, int64_t each, int64_t tile) {
  const auto squares = static_cast<unsigned>((groups * each + tile - 1) / tile);
  ChannelNeeds made{tile, 1, {}}, read{tile, 1, {}};
  auto needs = [&](int64_t group) {
    llvm::BitVector bits(squares);
    bits.set(static_cast<unsigned>(group * each / tile),
             static_cast<unsigned>(((group + 1) * each - 1) / tile + 1));
    return bits;
  };
  for (int64_t channel = 0; channel < groups * each; ++channel) {
    made.of.push_back(needs(channel / each));
    read.of.push_back(needs((channel % each * groups + channel / each) / each));
  }
  return {made, read};
}

std::vector<int64_t> own(size_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

} // namespace

TEST(ChannelTiles, CostWhatAnyOfTheirChannelsNeeds) {
  const ChannelNeeds needs{2, 3, {only(4, 0), only(4, 1), only(4, 1), only(4, 1), only(4, 3)}};
  EXPECT_EQ(costOf(needs, own(5)), 3 * (2 + 1 + 1));
  EXPECT_EQ(costOf(needs, {0, 4, 1, 2, 3}), 3 * (2 + 1 + 1));
  EXPECT_EQ(costOf(needs, {1, 2, 3, 0, 4}), 3 * (1 + 2 + 1));
}

// Two groups of makers and two of readers fill a tile: four squares instead of one and four.
TEST(ChannelTiles, TakeFewGroupsOfEitherSide) {
  const std::vector<ChannelNeeds> needs = shuffled(4, 16, 16);
  EXPECT_EQ(costOf(needs, own(64)), 4 + 16);
  EXPECT_EQ(costOf(needs, cheapOrder(needs)), 4 * (2 + 2));
}

TEST(ChannelTiles, AreNeverDearer) {
  for (int64_t groups : {2, 3, 4, 5})
    for (int64_t each : {8, 12, 20, 24, 40})
      for (int64_t tile : {4, 12, 16, 32}) {
        const std::vector<ChannelNeeds> needs = shuffled(groups, each, tile);
        std::vector<int64_t> order = cheapOrder(needs);
        EXPECT_LE(costOf(needs, order), costOf(needs, own(order.size())));
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, own(static_cast<size_t>(groups * each)));
      }
}

TEST(ChannelTiles, StayWhereAllChannelsAreAlike) {
  const ChannelNeeds needs{4, 1, std::vector(9, only(3, 1))};
  EXPECT_EQ(cheapOrder(needs), own(9));
}

} // namespace tilewright
