// Counts of a program file, which may claim any.
#pragma once

#include <cstdint>
#include <limits>

namespace tilewright::report {

// At most the largest number.
inline int64_t sum(int64_t a, int64_t b) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return a > most - b ? most : a + b;
}

} // namespace tilewright::report
