// Regions: the same integers as layer by layer, in fewer cycles, and what they hand on stays on
// chip.
#include "outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A sixteenth of 32-bit elements, in 8 bits.
std::string narrowed(const std::string &result, const std::string &value,
                     const std::string &shape) {
  return result + " = tosa.rescale " + value +
         ", %one, %shift, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = "
         "false, input_unsigned = false, output_unsigned = false} : (tensor<" +
         shape + "xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<" +
         shape + "xi8>\n";
}

struct Case {
  const char *name;
  std::string body; // makes %e, tensor<8x24x40xi32>, of %x in 8 bits and %w in 32
};

const Case cases[] = {
    {"RowsThatAreReduced", R"(
  %m = tosa.reduce_max %w {axis = 2 : i32} : (tensor<8x24x40xi32>) -> tensor<8x24x1xi32>
  %d = tosa.sub %w, %m : (tensor<8x24x40xi32>, tensor<8x24x1xi32>) -> tensor<8x24x40xi32>
  %s = tosa.reduce_sum %d {axis = 2 : i32} : (tensor<8x24x40xi32>) -> tensor<8x24x1xi32>
  %e = tosa.add %d, %s : (tensor<8x24x40xi32>, tensor<8x24x1xi32>) -> tensor<8x24x40xi32>
)"},
    {"ColumnsThatAreReduced", R"(
  %m = tosa.reduce_max %w {axis = 1 : i32} : (tensor<8x24x40xi32>) -> tensor<8x1x40xi32>
  %d = tosa.sub %w, %m : (tensor<8x24x40xi32>, tensor<8x1x40xi32>) -> tensor<8x24x40xi32>
  %s = tosa.reduce_sum %d {axis = 1 : i32} : (tensor<8x24x40xi32>) -> tensor<8x1x40xi32>
  %e = tosa.add %d, %s : (tensor<8x24x40xi32>, tensor<8x1x40xi32>) -> tensor<8x24x40xi32>
)"},
    // 37 elements are no whole number of strips, in any pass.
    {"RowsOfOddLength", R"(
  %start = tosa.const_shape {values = dense<[0, 0, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[8, 24, 37]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %p = tosa.slice %w, %start, %size : (tensor<8x24x40xi32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<8x24x37xi32>
  %m = tosa.reduce_min %p {axis = 2 : i32} : (tensor<8x24x37xi32>) -> tensor<8x24x1xi32>
  %d = tosa.sub %p, %m : (tensor<8x24x37xi32>, tensor<8x24x1xi32>) -> tensor<8x24x37xi32>
  %s = tosa.reduce_sum %d {axis = 2 : i32} : (tensor<8x24x37xi32>) -> tensor<8x24x1xi32>
  %e = tosa.add %w, %s : (tensor<8x24x40xi32>, tensor<8x24x1xi32>) -> tensor<8x24x40xi32>
)"},
    // Two products and a reduction between them; the first one's second operand is its first one,
    // transposed.
    {"ProductsOfActivations", R"(
  %t = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<8x24x40xi8>) -> tensor<8x40x24xi8>
  %p = tosa.matmul %x, %t, %zp, %zp : (tensor<8x24x40xi8>, tensor<8x40x24xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x24x24xi32>
  %m = tosa.reduce_max %p {axis = 2 : i32} : (tensor<8x24x24xi32>) -> tensor<8x24x1xi32>
  %d = tosa.sub %p, %m : (tensor<8x24x24xi32>, tensor<8x24x1xi32>) -> tensor<8x24x24xi32>
)" + narrowed("%r", "%d", "8x24x24") +
                                  R"(
  %e = tosa.matmul %r, %x, %zp, %zp : (tensor<8x24x24xi8>, tensor<8x24x40xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x24x40xi32>
)"},
};

class Region : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};

TEST_P(Region, GivesWhatLayersApartGive) {
  const auto &[each, target] = GetParam();
  const std::string text = R"(
func.func @main(%x: tensor<8x24x40xi8>) -> tensor<8x24x40xi8> {
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<34> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %w = tosa.cast %x : (tensor<8x24x40xi8>) -> tensor<8x24x40xi32>
)" + each.body + narrowed("%y", "%e", "8x24x40") +
                           "return %y : tensor<8x24x40xi8>\n}\n";
  const NetworkOutcome region = outcomeOf(text, target, true, "cycle"),
                       apart = outcomeOf(text, target, false, "cycle");
  EXPECT_EQ(region.output, apart.output);
  EXPECT_THAT(region.plan, HasSubstr("region of"));
  EXPECT_THAT(apart.plan, Not(HasSubstr("region of")));
  EXPECT_LT(region.cycles, apart.cycles);
  EXPECT_LT(region.dramBytes, apart.dramBytes);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Region,
                         ::testing::Combine(::testing::ValuesIn(cases),
                                            ::testing::Values("edge16", "odd12x20", "tiny4")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param);
                         });

} // namespace

} // namespace tilewright
