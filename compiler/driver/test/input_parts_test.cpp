// Inputs that come by parts of their channels.
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

// Parts of a first input have buffers of their own: the same integers as on a machine whose rows do
// not divide the channels, so that there are no such parts.
class InputParts : public ::testing::TestWithParam<Case> {};

TEST_P(InputParts, GiveWhatAWholeInputGives) {
  const NetworkOutcome parts = outcomeOf(GetParam().network, "edge16", true, "cycle"),
                       whole = outcomeOf(GetParam().network, "odd12x20", true, "cycle");
  EXPECT_TRUE(parts.output == whole.output);
}

INSTANTIATE_TEST_SUITE_P(InputParts, InputParts, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

std::vector<Case> deepCases() {
  return {
      {"OfOneTap", Network(7, 7, 2048).conv(320, 1, 1)},
      {"OfNineTaps", Network(13, 13, 512).conv(160, 3, 2)},
      {"OfUnevenParts", Network(7, 7, 1900).conv(170, 1, 1)},
      {"WithASumBehind", Network(7, 7, 160).conv(2048, 1, 1).conv(160, 1, 1).addArgument()},
  };
}

// Inputs that do not fit come again for each chunk of output channels: the same integers as on a
// machine on which they fit.
class DepthParts : public ::testing::TestWithParam<Case> {};

TEST_P(DepthParts, GiveWhatAWholeInputGives) {
  const NetworkOutcome parts = outcomeOf(GetParam().network, "odd12x20", true, "cycle"),
                       whole = outcomeOf(GetParam().network, "edge16", true, "cycle");
  EXPECT_NE(parts.plan.find("parts of the depth"), std::string::npos) << parts.plan;
  EXPECT_EQ(whole.plan.find("parts of the depth"), std::string::npos) << whole.plan;
  EXPECT_TRUE(parts.output == whole.output);
}

TEST(DepthPartsOfImages, GiveWhatWholeImagesGive) {
  std::string text = Network(7, 7, 2048).conv(320, 1, 1).text();
  const std::string one = "tensor<1x7x7x", two = "tensor<2x7x7x";
  for (size_t at = text.find(one); at != std::string::npos; at = text.find(one, at))
    text.replace(at, one.size(), two);
  const NetworkOutcome parts = outcomeOf(text, "odd12x20", true, "cycle"),
                       whole = outcomeOf(text, "edge16", true, "cycle");
  EXPECT_NE(parts.plan.find("parts of the depth"), std::string::npos) << parts.plan;
  EXPECT_TRUE(parts.output == whole.output);
}

INSTANTIATE_TEST_SUITE_P(DepthParts, DepthParts, ::testing::ValuesIn(deepCases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace

} // namespace tilewright
