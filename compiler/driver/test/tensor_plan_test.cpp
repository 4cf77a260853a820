// Tensors in DRAM: how many bytes they take, as the summary of a compilation says.
#include "outcome.h"

#include <gmock/gmock.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;

constexpr int64_t side = 28, channels = 32, bytes = side * side * channels; // of one tensor

// Arguments and results stay; of the others those count that live at one time.
void expectTensors(const Network &network, bool fusion, int64_t count) {
  const NetworkOutcome outcome = outcomeOf(network, "edge16", fusion, "functional");
  EXPECT_THAT(outcome.summary,
              HasSubstr(fmt::format("tensors in DRAM {0} bytes (lower bound {0})", count * bytes)));
}

Network image() { return {side, side, channels}; }

} // namespace

TEST(TensorPlan, AddressesAreUsedAgain) {
  expectTensors(image().conv(channels, 1, 1), false, 2);
  expectTensors(image().conv(channels, 1, 1).conv(channels, 1, 1), false, 3);
  expectTensors(
      image().conv(channels, 1, 1).conv(channels, 3, 1).conv(channels, 1, 1).conv(channels, 3, 1),
      false, 3);
}

TEST(TensorPlan, ASumStandsWhereItsOperandStood) {
  expectTensors(image().conv(channels, 1, 1).conv(channels, 3, 1).conv(channels, 3, 1).add(1),
                false, 3);
}

TEST(TensorPlan, WhatIsStillReadKeepsItsPlace) {
  // By the convolution of the same group, whose rows overlap.
  expectTensors(image().conv(channels, 3, 1).conv(channels, 3, 1).add(1), false, 3);
  // By a later layer; the last two make one tensor.
  expectTensors(image()
                    .conv(channels, 1, 1)
                    .conv(channels, 3, 1)
                    .conv(channels, 3, 1)
                    .add(1)
                    .from(1)
                    .conv(channels, 3, 1)
                    .concat({4, 5}),
                false, 5);
  // An argument.
  expectTensors(image().conv(channels, 3, 1).conv(channels, 3, 1).add(0), false, 3);
}

// A fused stack reads its input while it writes its result.
TEST(TensorPlan, AFusedStacksInputKeepsItsAddresses) {
  const Network network = image()
                              .conv(channels, 1, 1)
                              .conv(6 * channels, 1, 1)
                              .depthwise(3, 1)
                              .conv(channels, 1, 1)
                              .add(1);
  ASSERT_THAT(outcomeOf(network, "edge16", true, "functional").plan, HasSubstr("fused stack of 3"));
  expectTensors(network, true, 3);
}

} // namespace tilewright
