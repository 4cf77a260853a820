// Concatenations of which some parts, or all, stand in place: the same integers as where all are
// copied, because somebody else wants each part as a result.
#include "outcome.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tilewright {

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  const char *name;
  Network network;
  std::vector<int> parts;
};

// A block adds channels to all that were there.
Case nested() {
  return {"Nested",
          Network(14, 14, 16)
              .conv(32, 1, 1)
              .conv(48, 3, 1)
              .concat({1, 2})
              .conv(64, 3, 1)
              .concat({1, 2, 4})
              .conv(32, 1, 1),
          {1, 2, 4}};
}

// Rows of the first part are 16 bytes long.
Case narrow() {
  return {"Narrow",
          Network(14, 14, 16).conv(16, 1, 1).conv(48, 3, 1).concat({1, 2}).conv(32, 1, 1),
          {1, 2}};
}

Case upsampled() {
  return {"Upsampled",
          Network(14, 14, 16)
              .conv(32, 1, 1)
              .conv(48, 3, 2, {-1, -1})
              .upsample()
              .concat({1, 3})
              .conv(32, 3, 1),
          {1, 2}};
}

// Half of a part's channels.
Case viewed() {
  return {
      "Viewed",
      Network(14, 14, 16).conv(64, 1, 1).slice(32, 32).conv(48, 3, 1).concat({1, 3}).conv(32, 1, 1),
      {1, 3}};
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

Network copied(const Case &each) {
  Network network = each.network;
  for (int part : each.parts)
    network.result(part);
  return network;
}

std::vector<std::string> plansOf(const NetworkOutcome &outcome) {
  std::vector<std::string> plans;
  std::istringstream lines(outcome.plan);
  for (std::string line; std::getline(lines, line);)
    if (line.find("(concat): ") != std::string::npos)
      plans.push_back(line);
  return plans;
}

class Concatenation : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};

TEST_P(Concatenation, GivesWhatCopiesGive) {
  const auto &[each, target] = GetParam();
  EXPECT_TRUE(outcomeOf(each.network, target, true, "cycle").output ==
              outcomeOf(copied(each), target, false, "functional").output);
}

INSTANTIATE_TEST_SUITE_P(Networks, Concatenation,
                         ::testing::Combine(::testing::Values(nested(), narrow(), upsampled(),
                                                              viewed()),
                                            ::testing::Values("edge16", "odd12x20", "tiny4")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "On" +
                                  std::get<1>(info.param);
                         });

// What the plan says of the concatenations of `network`.
class ConcatenationPlans : public ::testing::Test {
protected:
  static std::vector<std::string> of(const Network &network) {
    return plansOf(outcomeOf(network, "edge16", true, "functional"));
  }
};

TEST_F(ConcatenationPlans, CopyNothingWhereOneIsWithinAnother) {
  EXPECT_THAT(of(nested().network),
              ElementsAre(HasSubstr("written in place"), HasSubstr("written in place")));
}

TEST_F(ConcatenationPlans, CopyOnlyAPartOfShortRows) {
  EXPECT_THAT(of(narrow().network),
              ElementsAre(HasSubstr(fmt::format("moves {} bytes", 2 * 14 * 14 * 16))));
}

TEST_F(ConcatenationPlans, CopyNothingThatOnlyGrowsOnItsWay) {
  EXPECT_THAT(of(upsampled().network), ElementsAre(HasSubstr("moves 0 bytes")));
}

TEST_F(ConcatenationPlans, CopyNothingOfWhichOthersReadSomeChannels) {
  EXPECT_THAT(of(viewed().network), ElementsAre(HasSubstr("written in place")));
}

TEST_F(ConcatenationPlans, CopyWhatIsAResult) {
  EXPECT_THAT(of(copied(nested())), Each(Not(HasSubstr("in place"))));
}

} // namespace

} // namespace tilewright
