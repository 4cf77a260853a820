// Which taps of a kernel lie inside the tensor. All that asks it asks here.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewright {

// One axis of a window: tap k of output o is element o * stride + k * dilation - pad of the tensor.
struct WindowAxis {
  int64_t kernel, stride, dilation, pad, size;
};

// Taps [first, first + count); {0, 0} when none lies inside.
struct Taps {
  int64_t first, count;
  bool operator==(const Taps &other) const { return first == other.first && count == other.count; }
};

inline Taps tapsInside(const WindowAxis &axis, int64_t output) {
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; }; // of what is not negative
  const int64_t start = output * axis.stride - axis.pad;
  const int64_t first = ceilDiv(std::max<int64_t>(0, -start), axis.dilation),
                end = std::min(axis.kernel,
                               ceilDiv(std::max<int64_t>(0, axis.size - start), axis.dilation));
  return first < end ? Taps{first, end - first} : Taps{0, 0};
}

} // namespace tilewright
