// What a plan needs on chip, where memory is short.
#include "outcome.h"

#include <gmock/gmock.h>

namespace tilewright {

// The path of an overlay that changes these parts of a target.
std::string overlayOf(const std::string &target) {
  const std::string path = ::testing::TempDir() + "/" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                           ".yaml";
  std::ofstream(path) << "schema: \"tilewright/overlay/1\"\nname: \"space\"\n"
                         "summary: \"Another target.\"\ntarget: { "
                      << target << " }\n";
  return path;
}

// Constants that come in early, under the layer before, may cut the scratchpad in two: what then
// has no space begins on an empty chip.
TEST(Space, AnInputTileThatEarlyConstantsLeaveNoneFor) {
  const std::string overlay = overlayOf("clock_hz: \"1100000000\", dram: \"hbm2\"");
  Network network(13, 13, 1024); // the last block's shortcut of ResNet-50, and what follows
  network.conv(512, 1, 2).conv(2048, 1, 1).from(0).conv(2048, 1, 2).add(2).conv(512, 1, 1);
  const NetworkOutcome cut = outcomeOf(network, "edge16", true, "functional", {overlay}),
                       plain = outcomeOf(network, "edge16", true, "functional");
  EXPECT_EQ(cut.output, plain.output);
}

// The plan on `target` says so, the one on `other` does not, and both give the same.
void expectSame(const Network &network, const char *target, const char *other, const char *phrase) {
  const NetworkOutcome one = outcomeOf(network, target, true, "functional"),
                       two = outcomeOf(network, other, true, "functional");
  EXPECT_THAT(one.plan.substr(0, one.plan.find('\n')), ::testing::HasSubstr(phrase));
  EXPECT_THAT(two.plan.substr(0, two.plan.find('\n')),
              ::testing::Not(::testing::HasSubstr(phrase)));
  EXPECT_EQ(one.output, two.output);
}

// Half of the weights stay while all pixels go by, and the other half takes their space.
TEST(Space, WeightsThatGoRoundGiveWhatOthersGive) {
  expectSame(Network(32, 32, 512).conv(512, 1, 1), "edge32", "tiny4",
             " steps of channels, then pixels");
}

// Of a part of the input that comes in, the array makes sums for two tiles.
TEST(Space, TilesThatAreFilledByTurnsGiveWhatOthersGive) {
  expectSame(Network(16, 8, 384).conv(1536, 1, 1), "edge16", "server128",
             "steps of channels by turns");
}

// The depthwise convolution itself needs none of the accumulators: its rescale gives 8 bits.
TEST(Space, AccumulatorsOfWhatFollowsADepthwiseConvolution) {
  const std::string overlay = overlayOf("params: { acc_bytes: 1024, acc_banks: 1 }");
  const std::string minimum = R"(
    func.func @main(%x: tensor<1x7x12x2xi8>) -> tensor<1x7x12x2xi8> {
      %w = "tosa.const"() {values = dense<[[[[-127], [127]]]]> : tensor<1x1x2x1xi8>} : () -> tensor<1x1x2x1xi8>
      %b = "tosa.const"() {values = dense<[-2726, 9669592]> : tensor<2xi32>} : () -> tensor<2xi32>
      %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
      %z32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
      %m = "tosa.const"() {values = dense<1305418892> : tensor<1xi32>} : () -> tensor<1xi32>
      %up = "tosa.const"() {values = dense<12> : tensor<1xi8>} : () -> tensor<1xi8>
      %down = "tosa.const"() {values = dense<46> : tensor<1xi8>} : () -> tensor<1xi8>
      %d = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x12x2xi8>, tensor<1x1x2x1xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x7x12x2xi32>
      %n = tosa.rescale %d, %m, %down, %z32, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x7x12x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x7x12x2xi8>
      %p = tosa.rescale %n, %m, %up, %z, %z32 {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x7x12x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x7x12x2xi32>
      %q = tosa.rescale %x, %m, %up, %z, %z32 {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x7x12x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x7x12x2xi32>
      %s = tosa.minimum %p, %q : (tensor<1x7x12x2xi32>, tensor<1x7x12x2xi32>) -> tensor<1x7x12x2xi32>
      %r = tosa.rescale %s, %m, %down, %z32, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x7x12x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x7x12x2xi8>
      return %r : tensor<1x7x12x2xi8>
    })";
  EXPECT_EQ(outcomeOf(minimum, "edge16", true, "functional", {overlay}).output,
            outcomeOf(minimum, "edge16", true, "functional").output);
}

// Rescales by channel, on images of 2 x 3 pixels.
std::string rescalesOf(int channels) {
  std::string multipliers, shifts;
  for (int i = 0; i < channels; ++i) {
    multipliers += fmt::format("{}{}", i == 0 ? "" : ", ", 1100000000 + 1000000 * (i % 1000));
    shifts += fmt::format("{}{}", i == 0 ? "" : ", ", 12 + i % 5);
  }
  return fmt::format(
      R"(
    func.func @main(%x: tensor<1x2x3x{0}xi16>) -> tensor<1x2x3x{0}xi8> {{
      %z = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
      %z16 = "tosa.const"() {{values = dense<0> : tensor<1xi16>}} : () -> tensor<1xi16>
      %z32 = "tosa.const"() {{values = dense<0> : tensor<1xi32>}} : () -> tensor<1xi32>
      %m = "tosa.const"() {{values = dense<[{1}]> : tensor<{0}xi32>}} : () -> tensor<{0}xi32>
      %up = "tosa.const"() {{values = dense<[{2}]> : tensor<{0}xi8>}} : () -> tensor<{0}xi8>
      %one = "tosa.const"() {{values = dense<1305418892> : tensor<1xi32>}} : () -> tensor<1xi32>
      %down = "tosa.const"() {{values = dense<46> : tensor<1xi8>}} : () -> tensor<1xi8>
      %by = "tosa.const"() {{values = dense<3> : tensor<1x1x1x1xi32>}} : () -> tensor<1x1x1x1xi32>
      %p = tosa.rescale %x, %m, %up, %z16, %z32 {{input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true}} : (tensor<1x2x3x{0}xi16>, tensor<{0}xi32>, tensor<{0}xi8>, tensor<1xi16>, tensor<1xi32>) -> tensor<1x2x3x{0}xi32>
      %l = tosa.logical_left_shift %p, %by : (tensor<1x2x3x{0}xi32>, tensor<1x1x1x1xi32>) -> tensor<1x2x3x{0}xi32>
      %s = tosa.arithmetic_right_shift %l, %by {{round = false}} : (tensor<1x2x3x{0}xi32>, tensor<1x1x1x1xi32>) -> tensor<1x2x3x{0}xi32>
      %r = tosa.rescale %s, %one, %down, %z32, %z {{input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true}} : (tensor<1x2x3x{0}xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x2x3x{0}xi8>
      return %r : tensor<1x2x3x{0}xi8>
    }})",
      channels, multipliers, shifts);
}

// Parameters of fewer channels at once than the machine has registers for.
TEST(Space, AccumulatorsOfFewerChannelsThanHaveParameters) {
  const std::string overlay = overlayOf("params: { acc_bytes: 1024, acc_banks: 1, channels: 192 }");
  const std::string rescales = rescalesOf(200);
  EXPECT_EQ(outcomeOf(rescales, "edge16", true, "functional", {overlay}).output,
            outcomeOf(rescales, "edge16", true, "functional").output);
}

// Parameters come in for a part of the channels at a time where the scratchpad does not hold all:
// 72 kB of 16 KiB.
TEST(Space, ParametersOfMoreChannelsThanTheScratchpadHolds) {
  const std::string rescales = rescalesOf(6001);
  EXPECT_EQ(outcomeOf(rescales, "tiny4", true, "functional").output,
            outcomeOf(rescales, "edge16", true, "functional").output);
}

// Nor does it hold those of one block beside a tile.
TEST(Space, ParametersOfOneBlockThatTakeMostOfTheScratchpad) {
  const std::string overlay =
      overlayOf("params: { spad_bytes: 2048, spad_banks: 1, channels: 192 }");
  const std::string rescales = rescalesOf(1820);
  EXPECT_EQ(outcomeOf(rescales, "tiny4", true, "functional", {overlay}).output,
            outcomeOf(rescales, "edge16", true, "functional").output);
}

} // namespace tilewright
