// A row of items cut into parts that take the least time together: a pure problem, without IR
// types.
//
// 1. By dynamic programming: the best division of the first n items is the best one of fewer items,
// and a last part.
// 2. What a part takes is dear to find out. It begins with what it takes at least; only parts in a
// cheapest division are found out. When all of these are, no other division can be cheaper.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tilewright {

// Items [begin, end).
struct Stretch {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

// What a part takes, as far as it is known; nothing when it cannot be. A part of one item always
// can.
using PartCycles = std::function<std::optional<int64_t>(const Stretch &part)>;

// Parts of at most `longest` items.
std::vector<Stretch> divide(const Stretch &stretch, size_t longest, const PartCycles &cycles);

// Has `findOut` find out about parts, several at once, until `cycles` is exact for all parts of the
// stretches' divisions.
void settle(const std::vector<Stretch> &stretches, size_t longest, const PartCycles &cycles,
            const std::function<bool(const Stretch &part)> &isExact,
            const std::function<void(const std::vector<Stretch> &parts)> &findOut);

} // namespace tilewright
