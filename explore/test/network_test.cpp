// ctest -R Network: layers of TOSA modules.
#include "tilewright/explore/network.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tilewright::explore {

namespace {

// A convolution with its rescale and clamp, fused; a pool.
const char *const module = R"(
func.func @main(%x: tensor<1x8x8x32xi8>) -> tensor<1x4x4x16xi8> {
  %w = "tosa.const"() {values = dense<3> : tensor<16x3x3x32xi8>} : () -> tensor<16x3x3x32xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<16xi32>} : () -> tensor<16xi32>
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %z32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<40> : tensor<1xi8>} : () -> tensor<1xi8>
  %c = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x8x8x32xi8>, tensor<16x3x3x32xi8>, tensor<16xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x16xi32> loc("c"("Conv"))
  %r = tosa.rescale %c, %m, %s, %z32, %z {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = false, input_unsigned = false, output_unsigned = false}
     : (tensor<1x8x8x16xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x16xi8> loc("c"("Conv"))
  %k = tosa.clamp %r {min_val = 0 : i8, max_val = 100 : i8} : (tensor<1x8x8x16xi8>) -> tensor<1x8x8x16xi8> loc("relu"("Relu"))
  %p = tosa.max_pool2d %k {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x8x8x16xi8>) -> tensor<1x4x4x16xi8> loc("top"("MaxPool"))
  return %p : tensor<1x4x4x16xi8>
}
)";

TEST(Network, HasTheLayersOfAModule) {
  const Network network = networkOfTosa("m.mlir", module);
  ASSERT_EQ(network.layers.size(), 2u);
  const NetworkLayer &conv = network.layers[0], &top = network.layers[1];
  EXPECT_EQ(conv.name, "c");
  EXPECT_EQ(conv.op, "Conv");
  EXPECT_EQ(conv.kind, NetworkLayer::Kind::Product);
  EXPECT_EQ(conv.pixels, 64);
  EXPECT_EQ(conv.tapsY * conv.tapsX, 9);
  EXPECT_EQ(conv.inChannels, 32);
  EXPECT_EQ(conv.outChannels, 16);
  EXPECT_EQ(conv.macs, 64 * 9 * 32 * 16);
  EXPECT_EQ(conv.vectorElements, 2 * 64 * 16); // rescale and clamp
  EXPECT_EQ(conv.inputBytes, 64 * 32);
  EXPECT_EQ(conv.outputBytes, 64 * 16);
  EXPECT_EQ(conv.passedBytes, 64 * 16) << "the pool alone reads it";
  EXPECT_GE(conv.weightBytes, 16 * 9 * 32 + 16 * 4);
  EXPECT_EQ(top.name, "top");
  EXPECT_EQ(top.kind, NetworkLayer::Kind::Elementwise);
  EXPECT_EQ(top.inputBytes, 64 * 16);
  EXPECT_EQ(top.outputBytes, 16 * 16);
  EXPECT_EQ(top.passedBytes, 0) << "it is a result of the network";
  EXPECT_EQ(top.vectorElements, 4 * 16 * 16); // four taps each
}

TEST(Network, SurvivesJson) {
  const Network network = networkOfTosa("m.mlir", module);
  EXPECT_EQ(toJson(networkFrom(toJson(network))), toJson(network));
  EXPECT_EQ(networkFrom(toJson(network)).layers[0].outChannels, 16);
}

} // namespace

} // namespace tilewright::explore
