// Parts of the channels of a first input have buffers of their own: the same integers as on a
// machine whose rows do not divide the channels, so that there are no such parts.
#include "outcome.h"

namespace tilewright {

namespace {

struct Case {
  const char *name;
  Network network;
};

std::vector<Case> cases() {
  return {
      {"OfOneTile", Network(8, 8, 512).conv(64, 1, 1)},
      {"OfSeveralTiles", Network(16, 16, 512).conv(96, 1, 1)},
      {"OfEverySecondPixel", Network(15, 15, 512).conv(96, 1, 2)},
      {"WithPaddingBehind", Network(8, 8, 512).conv(96, 1, 1, {1, 1})},
  };
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class InputParts : public ::testing::TestWithParam<Case> {};

TEST_P(InputParts, GiveWhatAWholeInputGives) {
  const NetworkOutcome parts = outcomeOf(GetParam().network, "edge16", true, "cycle"),
                       whole = outcomeOf(GetParam().network, "odd12x20", true, "cycle");
  EXPECT_TRUE(parts.output == whole.output);
}

INSTANTIATE_TEST_SUITE_P(InputParts, InputParts, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace

} // namespace tilewright
