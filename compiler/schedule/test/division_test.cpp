#include "tilewright/compiler/schedule/division.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tilewright {

namespace {

constexpr size_t longest = 3;

using Part = std::pair<size_t, size_t>;
Part keyOf(const Stretch &part) { return {part.begin, part.end}; }

// Of a row of items: what each part takes; some parts cannot be.
std::map<Part, int64_t> randomParts(std::mt19937 &random, size_t items) {
  std::map<Part, int64_t> parts;
  for (size_t begin = 0; begin < items; ++begin)
    for (size_t length = 1; length <= longest && begin + length <= items; ++length)
      if (length == 1 || random() % 4 != 0)
        parts[{begin, begin + length}] =
            100 * static_cast<int64_t>(length) - static_cast<int64_t>(random() % 90);
  return parts;
}

PartCycles cyclesOf(const std::map<Part, int64_t> &parts) {
  return [&parts](const Stretch &part) {
    auto found = parts.find(keyOf(part));
    return found == parts.end() ? std::nullopt : std::optional(found->second);
  };
}

int64_t sumOf(const std::vector<Stretch> &division, const std::map<Part, int64_t> &parts) {
  int64_t sum = 0;
  for (const Stretch &part : division)
    sum += parts.at(keyOf(part));
  return sum;
}

// The least of all divisions of the items from `begin` on.
int64_t leastOf(size_t begin, size_t items, const std::map<Part, int64_t> &parts) {
  int64_t least = begin == items ? 0 : INT64_MAX;
  for (size_t end = begin + 1; end <= std::min(items, begin + longest); ++end)
    if (auto part = parts.find({begin, end}); part != parts.end())
      least = std::min(least, part->second + leastOf(end, items, parts));
  return least;
}

} // namespace

TEST(Division, TakesTheLeastOfAllDivisions) {
  std::mt19937 random(1);
  for (size_t items = 1; items < 9; ++items)
    for (int repeat = 0; repeat < 20; ++repeat) {
      const std::map<Part, int64_t> parts = randomParts(random, items);
      const std::vector<Stretch> division = divide({0, items}, longest, cyclesOf(parts));
      ASSERT_EQ(sumOf(division, parts), leastOf(0, items, parts)) << items;
      size_t next = 0;
      for (const Stretch &part : division) {
        ASSERT_EQ(part.begin, next);
        next = part.end;
      }
      ASSERT_EQ(next, items);
    }
}

TEST(Division, BeginsWhereTheStretchDoes) {
  const std::vector<Stretch> division = divide({5, 8}, longest, [](const Stretch &part) {
    return part.begin == 6 && part.size() == 2 ? 1 : 10 * static_cast<int64_t>(part.size());
  });
  ASSERT_EQ(division.size(), 2u);
  EXPECT_EQ(keyOf(division[0]), Part(5, 6));
  EXPECT_EQ(keyOf(division[1]), Part(6, 8));
}

TEST(Division, SettlesOnTheLeastWithoutFindingOutAboutAll) {
  std::mt19937 random(2);
  size_t found = 0, all = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    constexpr size_t items = 8;
    const std::map<Part, int64_t> parts = randomParts(random, items);
    std::map<Part, int64_t> known; // at least; exact for single items
    std::map<Part, bool> isExact;
    for (const auto &[part, cycles] : parts) {
      isExact[part] = part.second - part.first == 1;
      known[part] = isExact[part] ? cycles : cycles * 9 / 10;
    }
    all += parts.size() - items;
    settle(
        {{0, items}}, longest, cyclesOf(known),
        [&](const Stretch &part) { return isExact.at(keyOf(part)); },
        [&](const std::vector<Stretch> &unknown) {
          for (const Stretch &part : unknown) {
            EXPECT_FALSE(isExact.at(keyOf(part)));
            isExact[keyOf(part)] = true;
            known[keyOf(part)] = parts.at(keyOf(part));
            ++found;
          }
        });
    EXPECT_EQ(sumOf(divide({0, items}, longest, cyclesOf(known)), parts), leastOf(0, items, parts));
  }
  EXPECT_LT(found, all / 2);
}

} // namespace tilewright
