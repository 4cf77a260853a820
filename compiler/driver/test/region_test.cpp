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

std::string networkOf(const Case &each) {
  return R"(
func.func @main(%x: tensor<8x24x40xi8>) -> tensor<8x24x40xi8> {
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<34> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %w = tosa.cast %x : (tensor<8x24x40xi8>) -> tensor<8x24x40xi32>
)" + each.body +
         narrowed("%y", "%e", "8x24x40") + "return %y : tensor<8x24x40xi8>\n}\n";
}

// A sum stands behind the operand of both products, and is added to the first one's.
const Case twoProducts = {"TwoProductsOfOneOperand", R"(
  %t = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<8x24x40xi8>) -> tensor<8x40x24xi8>
  %p = tosa.matmul %x, %t, %zp, %zp : (tensor<8x24x40xi8>, tensor<8x40x24xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x24x24xi32>
)" + narrowed("%r", "%p", "8x24x24") +
                                                         R"(
  %rw = tosa.cast %r : (tensor<8x24x24xi8>) -> tensor<8x24x24xi32>
  %s = tosa.reduce_sum %rw {axis = 2 : i32} : (tensor<8x24x24xi32>) -> tensor<8x24x1xi32>
  %v = tosa.reverse %x {axis = 1 : i32} : (tensor<8x24x40xi8>) -> tensor<8x24x40xi8>
  %a = tosa.matmul %r, %x, %zp, %zp : (tensor<8x24x24xi8>, tensor<8x24x40xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x24x40xi32>
  %b = tosa.add %a, %s : (tensor<8x24x40xi32>, tensor<8x24x1xi32>) -> tensor<8x24x40xi32>
  %c = tosa.matmul %r, %v, %zp, %zp : (tensor<8x24x24xi8>, tensor<8x24x40xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x24x40xi32>
  %e = tosa.add %b, %c : (tensor<8x24x40xi32>, tensor<8x24x40xi32>) -> tensor<8x24x40xi32>
)"};

class Region : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};

// Both ways on a target: the same integers, in regions as `plan` has them in fewer cycles. Bytes
// from DRAM, in regions and layer by layer.
std::pair<int64_t, int64_t> compareWithApart(const std::string &text, const char *target,
                                             const char *plan) {
  const NetworkOutcome region = outcomeOf(text, target, true, "cycle"),
                       apart = outcomeOf(text, target, false, "cycle");
  EXPECT_TRUE(region.output == apart.output) << target;
  EXPECT_THAT(region.plan, HasSubstr(plan)) << target;
  EXPECT_THAT(apart.plan, Not(HasSubstr("region of"))) << target;
  EXPECT_LT(region.cycles, apart.cycles) << target;
  return {region.dramBytes, apart.dramBytes};
}

TEST_P(Region, GivesWhatLayersApartGive) {
  const auto &[each, target] = GetParam();
  const auto [bytes, apart] = compareWithApart(networkOf(each), target, "region of");
  EXPECT_LT(bytes, apart);
}

// Scores of blocks of rows, which are reduced and narrowed block by block; what they weigh, and
// their sums, are joined at the end: more layers than one region takes.
// `isEarly`: the blocks' rows are taken before all that computes.
Case blocksOf(int count, bool isEarly = true) {
  const std::string rows = std::to_string(24 / count), scores = "8x24x" + rows,
                    types = "(tensor<8x24x40xi8>, !tosa.shape<3>, !tosa.shape<3>)";
  std::string parts = "%size = tosa.const_shape {values = dense<[8, " + rows +
                      ", 40]> : tensor<3xindex>} : () -> !tosa.shape<3>\n",
              blocks, joined;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), part = "8x" + rows + "x40", turned = "8x40x" + rows;
    (isEarly ? parts : blocks) +=
        "%start" + n + " = tosa.const_shape {values = dense<[0, " +
        std::to_string(i * (24 / count)) + ", 0]> : tensor<3xindex>} : () -> !tosa.shape<3>\n%x" +
        n + " = tosa.slice %x, %start" + n + ", %size : " + types + " -> tensor<" + part +
        "xi8>\n%t" + n + " = tosa.transpose %x" + n + " {perms = array<i32: 0, 2, 1>} : (tensor<" +
        part + "xi8>) -> tensor<" + turned + "xi8>\n";
    blocks += "%p" + n + " = tosa.matmul %x, %t" + n + ", %zp, %zp : (tensor<8x24x40xi8>, tensor<" +
              turned + "xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<" + scores + "xi32>\n%m" + n +
              " = tosa.reduce_max %p" + n + " {axis = 2 : i32} : (tensor<" + scores +
              "xi32>) -> tensor<8x24x1xi32>\n%d" + n + " = tosa.sub %p" + n + ", %m" + n +
              " : (tensor<" + scores + "xi32>, tensor<8x24x1xi32>) -> tensor<" + scores +
              "xi32>\n" + narrowed("%r" + n, "%d" + n, scores);
    joined +=
        "%w" + n + " = tosa.cast %r" + n + " : (tensor<" + scores + "xi8>) -> tensor<" + scores +
        "xi32>\n%s" + n + " = tosa.reduce_sum %w" + n + " {axis = 2 : i32} : (tensor<" + scores +
        "xi32>) -> tensor<8x24x1xi32>\n%a" + n + " = tosa.matmul %r" + n + ", %x" + n +
        ", %zp, %zp : (tensor<" + scores + "xi8>, tensor<" + part +
        "xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x24x40xi32>\n%b" + n + " = tosa.add %a" + n +
        ", %s" + n + " : (tensor<8x24x40xi32>, tensor<8x24x1xi32>) -> tensor<8x24x40xi32>\n";
    joined += i == 0 ? std::string()
                     : "%c" + n + " = tosa.add %" + (i == 1 ? "b" : "c") + std::to_string(i - 1) +
                           ", %b" + n +
                           " : (tensor<8x24x40xi32>, tensor<8x24x40xi32>) -> tensor<8x24x40xi32>\n";
  }
  const std::string last = std::to_string(count - 1);
  return {"Blocks", parts + blocks + joined + "%e = tosa.maximum %c" + last + ", %w : " +
                        "(tensor<8x24x40xi32>, tensor<8x24x40xi32>) -> tensor<8x24x40xi32>\n"};
}

TEST(RegionOfBlocks, OfMoreLayersThanOneTakes) {
  for (const char *target : {"edge16", "tiny4"})
    compareWithApart(networkOf(blocksOf(6)), target, "region of");
}

// Products of several blocks in one region, of which one's operand is another's result.
TEST(RegionOfBlocks, OfThreeProductsAndMore) {
  for (const char *target : {"edge16", "tiny4"}) {
    const auto [bytes, apart] =
        compareWithApart(networkOf(blocksOf(3)), target, "region of 9 layers");
    EXPECT_LT(bytes, apart) << target;
  }
}

// Parts of an argument are taken first wherever the model takes them: regions are the same.
TEST(RegionOfBlocks, IsNotPartedByMoves) {
  EXPECT_EQ(outcomeOf(networkOf(blocksOf(6, false)), "edge16", true, "cycle").cycles,
            outcomeOf(networkOf(blocksOf(6)), "edge16", true, "cycle").cycles);
}

TEST(RegionOfTwoProducts, MakesASumBeforeItsReader) {
  for (const char *target : {"edge16", "tiny4"})
    EXPECT_EQ(outcomeOf(networkOf(twoProducts), target, true, "cycle").output,
              outcomeOf(networkOf(twoProducts), target, false, "cycle").output);
}

// A reduction of %x in 16 bits, and what goes on with its result, each with a scale of its own.
std::string rowsAboutTheirSums() {
  const auto widened = [](const std::string &result, const std::string &multiplier) {
    return result + " = tosa.rescale %x, " + multiplier +
           ", %shift, %zp16, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = "
           "false, input_unsigned = false, output_unsigned = false} : (tensor<8x64x40xi16>, "
           "tensor<1xi32>, tensor<1xi8>, tensor<1xi16>, tensor<1xi32>) -> tensor<8x64x40xi32>\n";
  };
  return R"(
func.func @main(%x: tensor<8x64x40xi16>) -> tensor<8x64x40xi8> {
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %half = "tosa.const"() {values = dense<536870912> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<34> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp16 = "tosa.const"() {values = dense<0> : tensor<1xi16>} : () -> tensor<1xi16>
  %zp32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
)" + widened("%a", "%half") +
         "%s = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<8x64x40xi32>) -> "
         "tensor<8x64x1xi32>\n" +
         widened("%b", "%one") +
         "%d = tosa.sub %b, %s : (tensor<8x64x40xi32>, tensor<8x64x1xi32>) -> "
         "tensor<8x64x40xi32>\n" +
         narrowed("%y", "%d", "8x64x40") + "return %y : tensor<8x64x40xi8>\n}\n";
}

TEST(RegionOfOneOperand, LoadsItOnceForAllKernels) {
  constexpr int64_t elements = 8 * 64 * 40;
  const NetworkOutcome region = outcomeOf(rowsAboutTheirSums(), "edge16", true, "cycle");
  EXPECT_THAT(region.plan, HasSubstr("region of 3 layers"));
  EXPECT_LT(region.dramBytes, elements * (2 + 2 + 1));
}

TEST(RegionOfOneOperand, GivesWhatLayersApartGive) {
  for (const char *target : {"edge16", "odd12x20", "tiny4"})
    EXPECT_TRUE(outcomeOf(rowsAboutTheirSums(), target, true, "cycle").output ==
                outcomeOf(rowsAboutTheirSums(), target, false, "cycle").output)
        << target;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Region,
                         ::testing::Combine(::testing::ValuesIn(cases),
                                            ::testing::Values("edge16", "odd12x20", "tiny4")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param);
                         });

// The greatest of a row and its sum are made along the lanes where the machine does so, and else
// strip by strip.
TEST(RowReduction, TakesInstructionsAlongTheLanesWhereThereAreSome) {
  const std::string overlay = ::testing::TempDir() + "/region_test_no_lanes.yaml";
  std::ofstream(overlay) << "schema: \"tilewright/overlay/1\"\nname: \"no-lanes\"\n"
                            "summary: \"Removes reductions along the lanes.\"\n"
                            "instructions: { vsum.lanes: null, vmaximum.lanes: null }\n";
  const std::string text = networkOf(cases[0]);
  NetworkOutcome joined = outcomeOf(text, "edge16", true, "cycle"),
                 strips = outcomeOf(text, "edge16", true, "cycle", {overlay});
  EXPECT_GT(joined.instructions["vmaximum.lanes"], 0);
  EXPECT_GT(joined.instructions["vsum.lanes"], 0);
  EXPECT_GT(strips.instructions["vmaximum"], 0);
  EXPECT_EQ(joined.output, strips.output);
  EXPECT_LT(joined.cycles, strips.cycles);
}

// Three projections of 49 rows and attention of 8 heads on them, and a projection of what it gives.
std::string attentionNetwork() {
  uint32_t seed = 1;
  const auto projection = [&](const std::string &result, const std::string &value,
                              int64_t channels) {
    std::string bytes;
    for (int64_t i = 0; i < 256 * channels; ++i, seed = seed * 1103515245 + 12345)
      bytes += fmt::format("{:02X}", seed >> 24);
    return fmt::format(
               "%w{0} = \"tosa.const\"() {{values = dense<\"0x{3}\"> : tensor<256x1x1x{2}xi8>}} : "
               "() -> tensor<256x1x1x{2}xi8>\n"
               "%a{0} = tosa.conv2d {1}, %w{0}, %zp32, %zp, %zp {{acc_type = i32, pad = array<i64: "
               "0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : "
               "(tensor<1x49x1x{2}xi8>, tensor<256x1x1x{2}xi8>, tensor<1xi32>, tensor<1xi8>, "
               "tensor<1xi8>) -> tensor<1x49x1x256xi32>\n",
               result, value, channels, bytes) +
           narrowed("%" + result, "%a" + result, "1x49x1x256");
  };
  // `result`: the heads of a projection, in an order of dimensions.
  const auto heads = [](const std::string &result, const std::string &value,
                        const std::string &order, const std::string &shape) {
    return fmt::format("%r{0} = tosa.reshape {1}, %heads : (tensor<1x49x1x256xi8>, "
                       "!tosa.shape<3>) -> tensor<49x8x32xi8>\n"
                       "%{0} = tosa.transpose %r{0} {{perms = array<i32: {2}>}} : "
                       "(tensor<49x8x32xi8>) -> tensor<{3}xi8>\n",
                       result, value, order, shape);
  };
  return R"(
func.func @main(%x: tensor<1x49x1x64xi8>) -> tensor<1x49x1x256xi8> {
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<38> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %heads = tosa.const_shape {values = dense<[49, 8, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %rows = tosa.const_shape {values = dense<[1, 49, 1, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
)" + projection("q", "%x", 64) +
         heads("qh", "%q", "1, 0, 2", "8x49x32") + projection("k", "%x", 64) +
         heads("kh", "%k", "1, 2, 0", "8x32x49") + projection("v", "%x", 64) +
         heads("vh", "%v", "1, 0, 2", "8x49x32") + R"(
  %p = tosa.matmul %qh, %kh, %zp, %zp : (tensor<8x49x32xi8>, tensor<8x32x49xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x49x49xi32>
  %m = tosa.reduce_max %p {axis = 2 : i32} : (tensor<8x49x49xi32>) -> tensor<8x49x1xi32>
  %d = tosa.sub %p, %m : (tensor<8x49x49xi32>, tensor<8x49x1xi32>) -> tensor<8x49x49xi32>
  %one22 = "tosa.const"() {values = dense<4194304> : tensor<1xi32>} : () -> tensor<1xi32>
  %n = tosa.rescale %d, %one22, %shift, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<8x49x49xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<8x49x49xi8>
  %o = tosa.matmul %n, %vh, %zp, %zp : (tensor<8x49x49xi8>, tensor<8x49x32xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x49x32xi32>
)" + narrowed("%on", "%o", "8x49x32") +
         R"(
  %t = tosa.transpose %on {perms = array<i32: 1, 0, 2>} : (tensor<8x49x32xi8>) -> tensor<49x8x32xi8>
  %i = tosa.reshape %t, %rows : (tensor<49x8x32xi8>, !tosa.shape<4>) -> tensor<1x49x1x256xi8>
)" + projection("y", "%i", 256) +
         "return %y : tensor<1x49x1x256xi8>\n}\n";
}

// The vector unit's parameters by channel are the projection's again when it goes on.
TEST(Attention, BeginsBesideTheProjectionsThatItReads) {
  EXPECT_THAT(outcomeOf(attentionNetwork(), "edge32", true, "cycle").plan,
              HasSubstr("begins beside the layer before it"));
}

TEST(Attention, GivesTheSameBesideTheProjectionsThatItReads) {
  const std::string text = attentionNetwork();
  for (const char *target : {"edge16", "edge32", "odd12x20"}) {
    const NetworkOutcome beside = outcomeOf(text, target, true, "cycle"),
                         apart = outcomeOf(text, target, false, "cycle");
    EXPECT_TRUE(beside.output == apart.output) << target;
    EXPECT_LT(beside.cycles, apart.cycles) << target;
  }
}

} // namespace

} // namespace tilewright
