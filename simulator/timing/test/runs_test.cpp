// ctest -R TimingRuns: runs of moves and their bursts, against all elements one by one.
#include "execution.h"

#include "tilewright/simulator/timing/runs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <ostream>
#include <random>

namespace tilewright::timing {
namespace {

using test::Execution;
using test::Values;

struct Element {
  int64_t dram, local;
  bool operator==(const Element &other) const { return dram == other.dram && local == other.local; }
};

std::ostream &operator<<(std::ostream &out, const Element &element) {
  return out << element.dram << " <-> " << element.local;
}

Runs runsOf(const Execution &execution) {
  return {execution.timing(), test::machine(), execution.context(), execution.addresses()};
}

std::vector<Element> elementsOf(Runs runs) {
  std::vector<Element> elements;
  for (; !runs.done(); runs.next())
    for (int64_t i = 0; i < runs.elements(); ++i)
      elements.push_back({static_cast<int64_t>(runs.dram()) + i * runs.dramBytes(),
                          runs.local() + i * runs.localStride()});
  return elements;
}

// `load` and `store` of bytes as their manual pages have them: of DRAM, `x` is contiguous.
std::vector<Element> allElements(Values v, const std::string &dram, const std::string &local) {
  std::vector<Element> elements;
  for (int64_t z = 0; z < v["n2"]; ++z)
    for (int64_t y = 0; y < v["n1"]; ++y)
      for (int64_t x = 0; x < v["n0"]; ++x)
        elements.push_back(
            {v[dram] + z * v[dram + "_s2"] + y * v[dram + "_s1"] + x,
             v[local] + z * v[local + "_s2"] + y * v[local + "_s1"] + x * v[local + "_s0"]});
  return elements;
}

Values randomMove(std::mt19937 &random, const std::string &local) {
  auto upTo = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
  Values values = {{"s", 4096 + upTo(100)}, {"d", 4096 + upTo(100)}};
  for (const char *extent : {"n0", "n1", "n2"})
    values[extent] = upTo(5);
  for (const char *stride : {"s_s2", "s_s1", "d_s2", "d_s1"})
    values[stride] = upTo(400) - 200;
  values[local + "_s0"] = upTo(6) - 3;
  return values;
}

class TimingRuns : public testing::TestWithParam<const char *> {
protected:
  bool isLoad() const { return std::string(GetParam()) == "load"; }
  const char *dram() const { return isLoad() ? "s" : "d"; }
  const char *local() const { return isLoad() ? "d" : "s"; }
};

TEST_P(TimingRuns, AreAllElementsInTheirOrder) {
  std::mt19937 random(1);
  size_t seen = 0;
  for (int i = 0; i < 500; ++i) {
    const Values values = randomMove(random, local());
    const std::vector<Element> expected = allElements(values, dram(), local());
    const Runs runs = runsOf({test::machine(), GetParam(), values});
    ASSERT_EQ(elementsOf(runs), expected);
    EXPECT_EQ(runs.totalElements(), static_cast<int64_t>(expected.size()));
    EXPECT_EQ(runs.space(), isa::Space::Spad);
    EXPECT_FALSE(runs.isFill());
    seen += expected.size();
  }
  EXPECT_GT(seen, 5000u);
}

TEST_P(TimingRuns, LieWithinTheirBounds) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const Values values = randomMove(random, local());
    const std::vector<Element> elements = allElements(values, dram(), local());
    if (elements.empty())
      continue;
    const auto [low, high] =
        std::minmax_element(elements.begin(), elements.end(),
                            [](const Element &a, const Element &b) { return a.local < b.local; });
    const Runs runs = runsOf({test::machine(), GetParam(), values});
    EXPECT_EQ(runs.localLow(), low->local);
    EXPECT_EQ(runs.localHigh(), high->local + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, TimingRuns, testing::Values("load", "store"),
                         [](const auto &info) { return std::string(info.param); });

TEST(TimingRuns, HaveOneOfEachElementThatStandsApart) {
  // Of 32-bit elements, addresses of accumulators count elements.
  const Runs runs = runsOf({test::machine(), "load.i32", {{"n1", 3}, {"n0", 5}, {"s_s1", 100}}});
  EXPECT_EQ(runs.elements(), 5);
  EXPECT_EQ(runs.totalElements(), 15);
  EXPECT_EQ(runs.dramBytes(), 4);
  EXPECT_EQ(runs.localBytes(), 4);
  EXPECT_EQ(runs.space(), isa::Space::Acc);
}

TEST(TimingRuns, FillsHaveNoDram) {
  const Runs runs = runsOf({test::machine(), "fill", {{"d", 64}, {"n1", 2}, {"n0", 6}}});
  EXPECT_TRUE(runs.isFill());
  EXPECT_EQ(runs.totalElements(), 12);
}

// Cuts [begin, begin + bytes) as a unit does.
std::vector<Cut> cutsOf(uint64_t begin, uint64_t bytes, uint64_t burst) {
  std::vector<Cut> cuts;
  for (uint64_t at = begin; at < begin + bytes; at += static_cast<uint64_t>(cuts.back().bytes))
    cuts.push_back(cut(at, begin + bytes, burst));
  return cuts;
}

TEST(TimingBursts, CoverARunAndCrossNoBoundary) {
  for (uint64_t begin = 0; begin < 40; ++begin)
    for (uint64_t bytes = 1; bytes < 70; ++bytes) {
      const std::vector<Cut> cuts = cutsOf(begin, bytes, 16);
      int64_t sum = 0;
      for (const Cut &each : cuts) {
        sum += each.bytes;
        EXPECT_EQ(each.begin / 16, (each.begin + static_cast<uint64_t>(each.bytes) - 1) / 16);
      }
      EXPECT_EQ(sum, static_cast<int64_t>(bytes));
      // No more of them than there are boundaries.
      EXPECT_EQ(cuts.size(), (begin + bytes - 1) / 16 - begin / 16 + 1);
    }
}

TEST(TimingBursts, AreCountedAsTheyAreCut) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    Runs runs = runsOf({test::machine(), "load", randomMove(random, "d")});
    size_t cuts = 0;
    for (Runs at = runs; !at.done(); at.next())
      cuts += cutsOf(at.dram(), static_cast<uint64_t>(at.elements() * at.dramBytes()), 16).size();
    EXPECT_EQ(countBursts(runs, 16, 1000), static_cast<int64_t>(cuts));
    EXPECT_EQ(countBursts(runs, 16, 3), std::min<int64_t>(3, static_cast<int64_t>(cuts)));
  }
  EXPECT_EQ(countBursts(runsOf({test::machine(), "fill", {{"n1", 2}, {"n0", 600}}}), 16, 9), 0);
}

TEST(TimingBursts, OwnEachElementOnce) {
  // Elements of 4 bytes at any address, in bursts that may be smaller than one.
  for (const uint64_t burst : {2u, 4u, 8u, 16u})
    for (int64_t address = 0; address < 16; ++address)
      for (int64_t count = 1; count < 9; ++count) {
        const Runs runs =
            runsOf({test::machine(), "load.i32", {{"s", address}, {"n1", 1}, {"n0", count}}});
        const auto begin = static_cast<uint64_t>(address);
        int64_t loaded = 0, stored = 0;
        for (const Cut &each : cutsOf(begin, static_cast<uint64_t>(4 * count), burst)) {
          const Elements load = ownedByLoad(runs, each), store = ownedByStore(runs, each);
          auto holds = [&](int64_t byte) {
            const auto at = begin + static_cast<uint64_t>(byte);
            return at >= each.begin && at < each.begin + static_cast<uint64_t>(each.bytes);
          };
          for (int64_t i = 0; i < count; ++i) {
            EXPECT_EQ(i >= load.first && i < load.last, holds(4 * i + 3));
            EXPECT_EQ(i >= store.first && i < store.last, holds(4 * i));
          }
          loaded += load.count();
          stored += store.count();
        }
        EXPECT_EQ(loaded, count);
        EXPECT_EQ(stored, count);
      }
}

} // namespace
} // namespace tilewright::timing
