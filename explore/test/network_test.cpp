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

TEST(Network, NeedsEachByteOnceAndNoProductWithPadding) {
  const NetworkNeeds needs = networkOfTosa("m.mlir", module).needs;
  EXPECT_EQ(needs.productMacs, 22 * 22 * 32 * 16) << "of 3 x 8 taps along a side two are padding";
  EXPECT_EQ(needs.depthwiseMacs, 0);
  EXPECT_EQ(needs.filterBytes, 16 * 9 * 32);
  EXPECT_EQ(needs.endBytes, 64 * 32 + 16 * 16);
}

// Of 3 x 3 taps over one pixel the middle one alone is needed; a stride of two reads a quarter of
// the pixels.
TEST(Network, NeedsNoTapsAndPixelsThatNothingMeets) {
  const NetworkNeeds needs = networkOfTosa("m.mlir", R"(
func.func @main(%x: tensor<1x1x1x32xi8>, %y: tensor<1x7x7x16xi8>) -> (tensor<1x1x1x32xi32>, tensor<1x4x4x8xi32>) {
  %w = "tosa.const"() {values = dense<3> : tensor<3x3x32x1xi8>} : () -> tensor<3x3x32x1xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<32xi32>} : () -> tensor<32xi32>
  %v = "tosa.const"() {values = dense<3> : tensor<8x1x1x16xi8>} : () -> tensor<8x1x1x16xi8>
  %a = "tosa.const"() {values = dense<7> : tensor<8xi32>} : () -> tensor<8xi32>
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %c = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x1x1x32xi8>, tensor<3x3x32x1xi8>, tensor<32xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x32xi32>
  %d = tosa.conv2d %y, %v, %a, %z, %z {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>}
     : (tensor<1x7x7x16xi8>, tensor<8x1x1x16xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x8xi32>
  return %c, %d : tensor<1x1x1x32xi32>, tensor<1x4x4x8xi32>
}
)")
                                 .needs;
  EXPECT_EQ(needs.depthwiseMacs, 32);
  EXPECT_EQ(needs.productMacs, 16 * 16 * 8);
  EXPECT_EQ(needs.filterBytes, 32 + 8 * 16);
  EXPECT_EQ(needs.endBytes, 4 * 32 + 4 * 16 * 8) << "no input is read whole for sure";
}

TEST(Network, SurvivesJson) {
  const Network network = networkOfTosa("m.mlir", module);
  EXPECT_EQ(toJson(networkFrom(toJson(network))), toJson(network));
  EXPECT_EQ(networkFrom(toJson(network)).layers[0].outChannels, 16);
  EXPECT_EQ(networkFrom(toJson(network)).needs.endBytes, network.needs.endBytes);
}

} // namespace

} // namespace tilewright::explore
