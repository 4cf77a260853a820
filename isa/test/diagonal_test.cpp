// ctest -R Diagonal: channels of which the array makes depthwise products at once.
#include "tilewright/isa/diagonal.h"

#include <gtest/gtest.h>

namespace tilewright::isa {
namespace {

TEST(Diagonal, IsAsLongAsTheArrayAllows) {
  EXPECT_EQ(diagonalChannels(16, 16, 64), 16);
  EXPECT_EQ(diagonalChannels(32, 8, 64), 8);
}

TEST(Diagonal, BlocksOfParametersHoldWholeOnes) {
  EXPECT_EQ(diagonalChannels(24, 32, 128), 16);
  EXPECT_EQ(diagonalChannels(12, 20, 80), 10);
  EXPECT_EQ(diagonalChannels(6, 6, 7), 1);
}

TEST(Diagonal, ChunksOfChannelsHoldWholeOnes) {
  EXPECT_EQ(diagonalChannels(12, 12, 64), 4)
      << "a chunk of 12 channels would begin in a square of 8";
  EXPECT_EQ(diagonalChannels(24, 24, 128), 8);
}

} // namespace
} // namespace tilewright::isa
