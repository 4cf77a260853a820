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

// Two columns beside each other, and their channels: rows of the former are no rows of the latter.
std::string columns(bool areResults) {
  const std::string column = "tensor<1x12x1x32xi8>", wide = "tensor<1x12x2x32xi8>",
                    deep = "tensor<1x12x1x64xi8>", pooled = "tensor<1x12x1x32xi8>";
  const std::string more = areResults ? ", " + column + ", " + column : "";
  return "func.func @main(%x: " + column + ") -> (" + pooled + ", " + deep + more + R"() {
  %a = tosa.clamp %x {min_val = -100 : i8, max_val = 90 : i8} : ()" +
         column + ") -> " + column + R"(
  %b = tosa.clamp %x {min_val = -20 : i8, max_val = 50 : i8} : ()" +
         column + ") -> " + column + R"(
  %i = tosa.concat %a, %b {axis = 2 : i32} : ()" +
         column + ", " + column + ") -> " + wide + R"(
  %o = tosa.concat %a, %b {axis = 3 : i32} : ()" +
         column + ", " + column + ") -> " + deep + R"(
  %p = tosa.max_pool2d %i {kernel = array<i64: 1, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>} : ()" +
         wide + ") -> " + pooled + R"(
  %q = tosa.clamp %o {min_val = -90 : i8, max_val = 80 : i8} : ()" +
         deep + ") -> " + deep + R"(
  return %p, %q)" +
         (areResults ? ", %a, %b" : "") + " : " + pooled + ", " + deep + more + "\n}\n";
}

TEST(ConcatenationAlong, OfColumnsIsNotWithinOneOfTheirChannels) {
  EXPECT_TRUE(outcomeOf(columns(false), "edge16", true, "functional").output ==
              outcomeOf(columns(true), "edge16", true, "functional").output);
}

TEST(PartInPlace, IsNotOverwrittenByWhatReadsTheWhole) {
  const std::string text = R"(
func.func @main(%x: tensor<1x10x600xi32>) -> tensor<1x10x600xi32> {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %k = "tosa.const"() {values = dense<7> : tensor<1x10x600xi32>} : () -> tensor<1x10x600xi32>
  %a = tosa.abs %x : (tensor<1x10x600xi32>) -> tensor<1x10x600xi32>
  %c = tosa.concat %a, %k {axis = 0 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
  %d = tosa.negate %c, %z, %z : (tensor<2x10x600xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x10x600xi32>
  %m = tosa.reduce_sum %d {axis = 0 : i32} : (tensor<2x10x600xi32>) -> tensor<1x10x600xi32>
  %y = tosa.add %m, %a : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x10x600xi32>
  return %y : tensor<1x10x600xi32>
}
)";
  const std::string output = outcomeOf(text, "edge16", false, "functional").output;
  std::string sevens; // of each element -7
  while (sevens.size() < output.size())
    sevens += "\xf9\xff\xff\xff";
  EXPECT_TRUE(output == sevens);
}

} // namespace

} // namespace tilewright
