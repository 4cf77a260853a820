// Products of one pixel: their weights stream through the array, and give what they give when they
// stand in it.
#include "outcome.h"

#include <gmock/gmock.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char *streams = "input-stationary";

struct Case {
  const char *name;
  int64_t inputs, outputs;
};

class StreamOnMachines : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};

} // namespace

// Two pixels are no stream; the first one is the same as alone, since their inputs begin alike.
TEST_P(StreamOnMachines, GiveWhatTheyGiveBesideOthers) {
  const auto &[each, target] = GetParam();
  const Network alone = Network(1, 1, each.inputs).conv(each.outputs, 1, 1),
                beside = Network(1, 2, each.inputs).conv(each.outputs, 1, 1);
  const NetworkOutcome streamed = outcomeOf(alone, target, false, "functional"),
                       timed = outcomeOf(alone, target, false, "cycle"),
                       wanted = outcomeOf(beside, target, false, "functional");
  EXPECT_THAT(streamed.plan, HasSubstr(streams));
  EXPECT_THAT(wanted.plan, Not(HasSubstr(streams)));
  EXPECT_TRUE(streamed.output == wanted.output.substr(0, static_cast<size_t>(each.outputs)));
  EXPECT_TRUE(timed.output == streamed.output);
}

INSTANTIATE_TEST_SUITE_P(WeightStream, StreamOnMachines,
                         ::testing::Combine(::testing::Values(Case{"Classifier", 1280, 1000},
                                                              Case{"UnevenSlices", 1003, 517},
                                                              Case{"SeveralTiles", 64, 5000}),
                                            ::testing::Values("edge16", "odd12x20")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "On" +
                                  std::get<1>(info.param);
                         });

// DRAM moves the weights at its peak for at least so much of the time.
TEST(WeightStream, KeepsDramBusy) {
  constexpr int64_t inputs = 4096, outputs = 2048, peak = 8; // bytes a cycle
  const NetworkOutcome outcome =
      outcomeOf(Network(1, 1, inputs).conv(outputs, 1, 1), "edge16", false, "cycle");
  EXPECT_LT(outcome.cycles, inputs * outputs / peak * 112 / 100);
}

// Padding shifts what the pixel meets, and columns of pixels are no run.
TEST(WeightStream, ImagesOfSeveralPixelsAreNone) {
  for (const Network &network :
       {Network(1, 1, 256).conv(256, 3, 1), Network(1, 1, 256).conv(256, 1, 1, {1, 0}),
        Network(2, 1, 256).conv(256, 1, 1)})
    EXPECT_THAT(outcomeOf(network, "edge16", false, "functional").plan, Not(HasSubstr(streams)));
}

} // namespace tilewright
