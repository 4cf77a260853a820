#include "tilewright/compiler/schedule/division.h"

#include <algorithm>

namespace tilewright {

std::vector<Stretch> divide(const Stretch &stretch, size_t longest, const PartCycles &cycles) {
  const auto [begin, end] = stretch;
  struct Best {
    int64_t cycles;
    size_t length; // of the last part
  };
  std::vector<Best> best{{0, 0}}; // of the first so many items
  for (size_t last = begin; last < end; ++last) {
    Best found{INT64_MAX, 1};
    for (size_t length = 1; length <= std::min(longest, last - begin + 1); ++length) {
      const size_t first = last + 1 - length;
      const std::optional<int64_t> own = cycles({first, last + 1});
      if (own && best[first - begin].cycles + *own < found.cycles)
        found = {best[first - begin].cycles + *own, length};
    }
    best.push_back(found);
  }
  std::vector<Stretch> parts;
  for (size_t at = end; at > begin; at -= best[at - begin].length)
    parts.push_back({at - best[at - begin].length, at});
  std::reverse(parts.begin(), parts.end());
  return parts;
}

void settle(const std::vector<Stretch> &stretches, size_t longest, const PartCycles &cycles,
            const std::function<bool(const Stretch &part)> &isExact,
            const std::function<void(const std::vector<Stretch> &parts)> &findOut) {
  for (;;) {
    std::vector<Stretch> unknown;
    for (const Stretch &stretch : stretches)
      for (const Stretch &part : divide(stretch, longest, cycles))
        if (!isExact(part))
          unknown.push_back(part);
    if (unknown.empty())
      return;
    findOut(unknown);
  }
}

} // namespace tilewright
