// ctest -R OrderChannels: channels between two convolutions, on a machine with squares of 4 by 4.
#include "run_passes.h"

#include "tilewright/compiler/select/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::HasSubstr;

// Channels 0, 2, 4, 6 are made of the inputs' first half, and 0, 1, 2, 3 are read for the results'
// first half: put in order, half of the squares of the first convolution are zero. `between` reads
// %y and gives %z.
std::string ordered(const std::string &between, const std::string &results = "tensor<1x5x5x8xi32>",
                    const std::string &returned = "%o : tensor<1x5x5x8xi32>") {
  std::string weights;
  for (int channel = 0; channel < 8; ++channel)
    weights += std::string(channel ? ", " : "") +
               (channel % 2 ? "[[[0, 0, 0, 0, 1, 1, 1, 1]]]" : "[[[1, 1, 1, 1, 0, 0, 0, 0]]]");
  const std::string attributes =
      "{stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, "
      "input_zp = 0 : i64, weight_zp = 0 : i64}";
  const std::string text =
      "%w = \"tosa.const\"() {values = dense<[" + weights +
      "]> : tensor<8x1x1x8xi8>} : () -> tensor<8x1x1x8xi8>\n"
      "%v = \"tosa.const\"() {values = dense<[[[[1, 2, 3, 4, 5, 6, 7, 8]]], [[[1, 2, 3, 4, 5, 6, "
      "7, "
      "8]]], [[[1, 2, 3, 4, 5, 6, 7, 8]]], [[[1, 2, 3, 4, 5, 6, 7, 8]]], [[[1, 2, 3, 4, 5, 6, 7, "
      "8]]], [[[1, 2, 3, 4, 5, 6, 7, 8]]], [[[1, 2, 3, 4, 5, 6, 7, 8]]], [[[1, 2, 3, 4, 5, 6, 7, "
      "8]]]]> : tensor<8x1x1x8xi8>} : () -> tensor<8x1x1x8xi8>\n"
      "%b = \"tosa.const\"() {values = dense<[10, 11, 12, 13, 14, 15, 16, 17]> : tensor<8xi32>} : "
      "() "
      "-> tensor<8xi32>\n"
      "%m = \"tosa.const\"() {values = dense<[20, 21, 22, 23, 24, 25, 26, 27]> : tensor<8xi32>} : "
      "() "
      "-> tensor<8xi32>\n"
      "%s = \"tosa.const\"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>\n"
      "%s8 = \"tosa.const\"() {values = dense<30> : tensor<8xi8>} : () -> tensor<8xi8>\n"
      "%y = kernel.conv2d %x, %w, %b " +
      attributes +
      " : (tensor<1x5x5x8xi8>, tensor<8x1x1x8xi8>, tensor<8xi32>) -> tensor<1x5x5x8xi32>\n" +
      between + "%o = kernel.conv2d %z, %v, %b " + attributes +
      " : (tensor<1x5x5x8xi8>, tensor<8x1x1x8xi8>, tensor<8xi32>) -> tensor<1x5x5x8xi32>\n"
      "return " +
      returned;
  const PassResult outcome =
      runPasses(mainOf("%x: tensor<1x5x5x8xi8>", results, text), {"kernel-fuse"},
                std::make_shared<Selection>(isa::load({"tiny4", {}, ""})));
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

const std::string rescale =
    "%z = kernel.rescale %y, %m, %s8 {input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 : i64, hi "
    "= "
    "127 : i64, input_unsigned = false} : (tensor<1x5x5x8xi32>, tensor<8xi32>, tensor<8xi8>) -> "
    "tensor<1x5x5x8xi8>\n";

} // namespace

TEST(OrderChannels, PutsAllConstantsOfAChannelWhereItStands) {
  const std::string module = ordered(rescale);
  EXPECT_THAT(module, HasSubstr("dense<[10, 12, 14, 16, 11, 13, 15, 17]>"));
  EXPECT_THAT(module, HasSubstr("dense<[20, 22, 24, 26, 21, 23, 25, 27]>"));
  EXPECT_THAT(module, HasSubstr("[1, 3, 5, 7, 2, 4, 6, 8]"));
  EXPECT_THAT(module, HasSubstr("[10, 11, 12, 13, 14, 15, 16, 17]")); // of the reader's results
}

TEST(OrderChannels, LeavesThemWhereOthersReadThem) {
  const std::string module = ordered(rescale, "tensor<1x5x5x8xi32>, tensor<1x5x5x8xi8>",
                                     "%o, %z : tensor<1x5x5x8xi32>, tensor<1x5x5x8xi8>");
  EXPECT_THAT(module, HasSubstr("dense<[20, 21, 22, 23, 24, 25, 26, 27]>"));
}

} // namespace tilewright
