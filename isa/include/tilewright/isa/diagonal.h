// Depthwise products on the systolic array.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewright::isa {

// Channels whose weights of a tap fill a square on the diagonal of an array of `rows` x `cols`: as
// many as it has rows and columns for, of which blocks of parameters of `channels` channels hold
// whole squares.
constexpr int64_t diagonalChannels(int64_t rows, int64_t cols, int64_t channels) {
  int64_t square = std::min(rows, cols);
  while (channels % square != 0)
    --square;
  return square;
}

} // namespace tilewright::isa
