// Convolutions of one image that run side by side: the same integers as one after the other, in
// less time.
#include "outcome.h"

#include <gmock/gmock.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  const char *name;
  Network network;
  int layers; // side by side, on edge16; 0: none
};

std::vector<Case> cases() {
  return {
      {"OneAndThreeTaps",
       Network(55, 55, 16).conv(64, 1, 1).from(0).conv(64, 3, 1).concat({1, 2}).conv(16, 1, 1), 2},
      {"ThreeOfUnevenChannels",
       Network(23, 29, 32)
           .conv(24, 1, 1)
           .from(0)
           .conv(72, 1, 1)
           .from(0)
           .conv(40, 3, 1)
           .concat({2, 3, 1}),
       3},
      {"ManyChannelsOfASmallImage",
       Network(13, 13, 64).conv(256, 1, 1).from(0).conv(256, 3, 1).concat({1, 2}), 2},
      // One adds what nobody reads after it; the other's result could stand there.
      {"AnOperandOfOneAlone",
       Network(28, 28, 64)
           .conv(64, 1, 1)
           .conv(32, 1, 1)
           .conv(64, 1, 1)
           .add(1)
           .from(2)
           .conv(128, 3, 1)
           .conv(64, 1, 1)
           .from(5)
           .conv(64, 1, 1)
           .concat({4, 6, 7}),
       2},
      {"OneReadsTheOther", Network(28, 28, 32).conv(64, 1, 1).from(0).conv(64, 3, 1).add(1), 0},
      {"OfTwoStrides", Network(29, 29, 32).conv(64, 1, 2).from(0).conv(64, 3, 2).concat({1, 2}), 0},
  };
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class SideBySideOnMachines : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};
class SideBySideOnEdge16 : public ::testing::TestWithParam<Case> {};

} // namespace

TEST_P(SideBySideOnMachines, GiveWhatTheyGiveOneAfterTheOther) {
  const auto &[each, target] = GetParam();
  const NetworkOutcome apart = outcomeOf(each.network, target, false, "functional"),
                       together = outcomeOf(each.network, target, true, "functional"),
                       timed = outcomeOf(each.network, target, true, "cycle");
  EXPECT_THAT(apart.plan, Not(HasSubstr("side by side")));
  EXPECT_TRUE(together.output == apart.output);
  EXPECT_TRUE(timed.output == apart.output);
}

TEST_P(SideBySideOnEdge16, TakeLessTime) {
  const Case &each = GetParam();
  const NetworkOutcome apart = outcomeOf(each.network, "edge16", false, "cycle"),
                       together = outcomeOf(each.network, "edge16", true, "cycle");
  if (each.layers == 0) {
    EXPECT_THAT(together.plan, Not(HasSubstr("side by side")));
    return;
  }
  EXPECT_THAT(together.plan, HasSubstr(fmt::format("{} layers side by side", each.layers)));
  EXPECT_LT(together.cycles, apart.cycles);
  EXPECT_LT(together.dramBytes, apart.dramBytes);
}

INSTANTIATE_TEST_SUITE_P(SideBySide, SideBySideOnMachines,
                         ::testing::Combine(::testing::ValuesIn(cases()),
                                            ::testing::Values("edge16", "odd12x20", "wide32x8")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "On" +
                                  std::get<1>(info.param);
                         });
INSTANTIATE_TEST_SUITE_P(SideBySide, SideBySideOnEdge16, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace tilewright
