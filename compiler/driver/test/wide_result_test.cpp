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
  const std::string x = fmt::format("tensor<1x1x{}x{}xi8>", pixels, inputs),
                    w = fmt::format("tensor<{}x1x1x{}xi8>", outputs, inputs),
                    shape = fmt::format("1x1x{}x{}", pixels, outputs);
  auto constant = [](const char *name, const std::string &value, const std::string &type) {
    return fmt::format("  %{0} = \"tosa.const\"() {{values = dense<{1}> : {2}}} : () -> {2}\n",
                       name, value, type);
  };
  return fmt::format("func.func @main(%x: {}) -> tensor<{}xi16> {{\n", x, shape) +
         constant("w", "\"0x" + weights + "\"", w) +
         constant("b", "5", fmt::format("tensor<{}xi32>", outputs)) +
         constant("z", "0", "tensor<1xi8>") + constant("z16", "0", "tensor<1xi16>") +
         constant("z32", "0", "tensor<1xi32>") + constant("m", "1073741824", "tensor<1xi32>") +
         constant("s", "33", "tensor<1xi8>") +
         fmt::format(
             "  %y = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = i32, pad = array<i64: 0, 0, 0, "
             "0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : ({0}, {1}, "
             "tensor<{2}xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<{3}xi32>\n"
             "  %r = tosa.rescale %y, %m, %s, %z32, %z16 {{scale32 = true, rounding_mode = "
             "SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}} "
             ": (tensor<{3}xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> "
             "tensor<{3}xi16>\n  return %r : tensor<{3}xi16>\n}}\n",
             x, w, outputs, shape);
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
