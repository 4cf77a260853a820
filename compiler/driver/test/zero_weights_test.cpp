// Weights that are zero wherever the array looks at once take no time: the same integers as on a
// machine whose array never sees zeros alone.
#include "outcome.h"

namespace tilewright {

namespace {

struct Case {
  const char *name;
  Network network; // two groups, or nothing but zeros
};

std::vector<Case> cases() {
  return {
      {"OneTap", Network(12, 12, 16).groups(2).conv(16, 1, 1)},
      {"ThreeTaps", Network(12, 12, 16).groups(2).conv(16, 3, 1)},
      {"EverySecondPixel", Network(13, 13, 16).groups(2).conv(32, 3, 2)},
      {"PaddingBehind", Network(6, 6, 16).groups(2).conv(16, 1, 1, {3, 2})},
      {"WindowsBetween",
       Network(14, 14, 16).groups(2).conv(16, 1, 1).depthwise(3, 1).conv(16, 1, 1)},
      {"SumOfAnImage", Network(7, 7, 16).groups(2).conv(16, 1, 1).sumOfImage()},
      // Of the channels in between that come first, some results have nothing but zeros.
      {"PartsOfTheChannels",
       Network(14, 14, 16).conv(192, 1, 1).depthwise(3, 1).groups(4).conv(16, 1, 1)},
      {"NothingButZeros", Network(12, 12, 16).groups(0).conv(16, 3, 1)},
  };
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class ZeroWeightsOf : public ::testing::TestWithParam<Case> {};

TEST_P(ZeroWeightsOf, GiveWhatTheyGiveAmongOthers) {
  EXPECT_TRUE(outcomeOf(GetParam().network, "tiny4", true, "cycle").output ==
              outcomeOf(GetParam().network, "edge16", true, "functional").output);
}

INSTANTIATE_TEST_SUITE_P(Networks, ZeroWeightsOf, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

// Of so many groups, an image that the accumulators hold at once.
NetworkOutcome grouped(int64_t groups) {
  return outcomeOf(Network(5, 5, 16).groups(groups).conv(16, 3, 1), "tiny4", true, "cycle");
}

TEST(ZeroWeights, AreNotLoadedIntoTheArray) {
  NetworkOutcome all = grouped(1), half = grouped(2);
  EXPECT_EQ(half.instructions["mload"], all.instructions["mload"] / 2);
  EXPECT_EQ(half.instructions["mmul"], all.instructions["mmul"] / 2);
}

TEST(ZeroWeights, TakeNoTime) {
  EXPECT_LT(grouped(2).cycles, 0.8 * static_cast<double>(grouped(1).cycles));
  EXPECT_LT(grouped(0).cycles, grouped(2).cycles);
}

} // namespace

} // namespace tilewright
