// Depthwise products on the systolic array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tilewright::isa {

// Channels whose weights of a tap fill a square on the diagonal of an array of `rows` x `cols`: as
// many as it has rows and columns for, of which both blocks of parameters of `channels` channels
// and chunks of channels, which are whole folds and column tiles, hold whole squares.
constexpr int64_t diagonalChannels(int64_t rows, int64_t cols, int64_t channels) {
  const int64_t common = std::gcd(channels, std::lcm(rows, cols));
  int64_t square = std::min(rows, cols);
  while (common % square != 0)
    --square;
  return square;
}

} // namespace tilewright::isa
