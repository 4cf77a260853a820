// Results of 16 bits, which are stored from accumulators: several tiles at a time.
#include "outcome.h"

namespace tilewright {

namespace {

constexpr int64_t pixels = 40, inputs = 32, outputs = 1000;

// A product whose sums become 16 bits wide.
std::string wideProduct() {
  std::string weights;
  for (int64_t i = 0; i < outputs * inputs; ++i)
    weights += fmt::format("{:02X}", i * 37 % 251);
  return fmt::format(R"(
!x = tensor<1x1x{0}x{1}xi8>
!w = tensor<{2}x1x1x{1}xi8>
!sums = tensor<1x1x{0}x{2}xi32>
!y = tensor<1x1x{0}x{2}xi16>
func.func @main(%x: !x) -> !y {{
  %w = "tosa.const"() {{values = dense<"0x{3}"> : !w}} : () -> !w
  %b = "tosa.const"() {{values = dense<5> : tensor<{2}xi32>}} : () -> tensor<{2}xi32>
  %z8 = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %z16 = "tosa.const"() {{values = dense<0> : tensor<1xi16>}} : () -> tensor<1xi16>
  %z32 = "tosa.const"() {{values = dense<0> : tensor<1xi32>}} : () -> tensor<1xi32>
  %m = "tosa.const"() {{values = dense<1073741824> : tensor<1xi32>}} : () -> tensor<1xi32>
  %s = "tosa.const"() {{values = dense<33> : tensor<1xi8>}} : () -> tensor<1xi8>
  %sums = tosa.conv2d %x, %w, %b, %z8, %z8 {{acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : (!x, !w, tensor<{2}xi32>, tensor<1xi8>, tensor<1xi8>) -> !sums
  %y = tosa.rescale %sums, %m, %s, %z32, %z16 {{scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}} : (!sums, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> !y
  return %y : !y
}}
)",
                     pixels, inputs, outputs, weights);
}

} // namespace

TEST(WideResults, AreTheSameOnAllMachines) {
  const std::string wanted = outcomeOf(wideProduct(), "tiny4", false, "functional").output;
  for (const char *target : {"edge16", "odd12x20"})
    for (const char *engine : {"functional", "cycle"})
      EXPECT_TRUE(outcomeOf(wideProduct(), target, true, engine).output == wanted)
          << target << ", " << engine;
}

// Of 64 channels at a time each pixel would be 16 runs of 128 bytes: 640 runs, each a DRAM row's
// worth of waiting.
TEST(WideResults, LeaveInLongRuns) {
  const NetworkOutcome outcome = outcomeOf(wideProduct(), "edge16", true, "cycle");
  constexpr int64_t most = 64; // channels of a tile
  EXPECT_LT(outcome.instructions.at("store.i16"), outputs / most);
}

} // namespace tilewright
