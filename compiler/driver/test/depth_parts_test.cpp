// Inputs that do not fit come by parts of the channels: the same integers as on a machine on which
// they fit.
#include "outcome.h"

namespace tilewright {

namespace {

struct Case {
  const char *name;
  Network network;
};

std::vector<Case> cases() {
  return {
      {"OfOneTap", Network(7, 7, 2048).conv(320, 1, 1)},
      {"OfNineTaps", Network(13, 13, 512).conv(160, 3, 2)},
      {"OfUnevenParts", Network(7, 7, 1900).conv(170, 1, 1)},
      {"WithASumBehind", Network(7, 7, 160).conv(2048, 1, 1).conv(160, 1, 1).addArgument()},
  };
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

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

INSTANTIATE_TEST_SUITE_P(DepthParts, DepthParts, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace

} // namespace tilewright
