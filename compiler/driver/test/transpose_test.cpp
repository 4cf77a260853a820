// Results that leave transposed: loads and stores share the scattered elements.
#include "outcome.h"

#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr int least = -100, greatest = 90;

std::string clampedAndTransposed(int64_t rows, int64_t columns) {
  return fmt::format(R"(
module {{
  func.func @main(%x: tensor<1x{0}x{1}xi8> {{tilewright.name = "x"}}) -> (tensor<1x{1}x{0}xi8> {{tilewright.name = "y"}}) {{
    %c = tosa.clamp %x {{min_val = {2} : i8, max_val = {3} : i8}} : (tensor<1x{0}x{1}xi8>) -> tensor<1x{0}x{1}xi8>
    %t = tosa.transpose %c {{perms = array<i32: 0, 2, 1>}} : (tensor<1x{0}x{1}xi8>) -> tensor<1x{1}x{0}xi8>
    return %t : tensor<1x{1}x{0}xi8>
  }}
}})",
                     rows, columns, least, greatest);
}

// Of 16 bits, `times` as much.
constexpr int times = 64;

std::string widenedAndTransposed(int64_t rows, int64_t columns) {
  return fmt::format(R"(
module {{
  func.func @main(%x: tensor<1x{0}x{1}xi8> {{tilewright.name = "x"}}) -> (tensor<1x{1}x{0}xi16> {{tilewright.name = "y"}}) {{
    %m = "tosa.const"() <{{values = dense<{2}> : tensor<1xi32>}}> : () -> tensor<1xi32>
    %s = "tosa.const"() <{{values = dense<24> : tensor<1xi8>}}> : () -> tensor<1xi8>
    %z = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
    %z16 = "tosa.const"() <{{values = dense<0> : tensor<1xi16>}}> : () -> tensor<1xi16>
    %c = tosa.rescale %x, %m, %s, %z, %z16 {{scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}}
      : (tensor<1x{0}x{1}xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi16>) -> tensor<1x{0}x{1}xi16>
    %t = tosa.transpose %c {{perms = array<i32: 0, 2, 1>}} : (tensor<1x{0}x{1}xi16>) -> tensor<1x{1}x{0}xi16>
    return %t : tensor<1x{1}x{0}xi16>
  }}
}})",
                     rows, columns, times << 24);
}

class TransposedResult : public ::testing::TestWithParam<const char *> {};

TEST_P(TransposedResult, HasEachElementInItsPlace) {
  for (const auto &[rows, columns] :
       {std::pair<int64_t, int64_t>(1000, 64), {37, 300}, {2, 3}, {513, 7}}) {
    const NetworkOutcome outcome =
        outcomeOf(clampedAndTransposed(rows, columns), GetParam(), true, "cycle");
    const std::string input = anyInput(static_cast<size_t>(rows * columns));
    std::string expected;
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = 0; row < rows; ++row)
        expected += static_cast<char>(
            std::clamp<int>(static_cast<int8_t>(input[static_cast<size_t>(row * columns + column)]),
                            least, greatest));
    EXPECT_TRUE(outcome.output == expected) << rows << " x " << columns;
  }
}

TEST_P(TransposedResult, HasSixteenBitsInTheirPlace) {
  for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>(1000, 64), {37, 300}, {2, 3}}) {
    const NetworkOutcome outcome =
        outcomeOf(widenedAndTransposed(rows, columns), GetParam(), true, "cycle");
    const std::string input = anyInput(static_cast<size_t>(rows * columns));
    std::string expected;
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = 0; row < rows; ++row) {
        const int value =
            times * static_cast<int8_t>(input[static_cast<size_t>(row * columns + column)]);
        expected += {static_cast<char>(value & 255), static_cast<char>(value >> 8)};
      }
    EXPECT_TRUE(outcome.output == expected) << rows << " x " << columns;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, TransposedResult,
                         ::testing::Values("edge16", "odd12x20", "tiny4"),
                         [](const auto &info) { return std::string(info.param); });

TEST(TransposedResults, TakeLessThanACycleAnElement) {
  constexpr int64_t rows = 1000, columns = 64;
  const NetworkOutcome outcome =
      outcomeOf(clampedAndTransposed(rows, columns), "edge16", true, "cycle");
  EXPECT_LT(outcome.cycles, rows * columns * 3 / 4);
  EXPECT_LT(outcomeOf(widenedAndTransposed(rows, columns), "edge16", true, "cycle").cycles,
            rows * columns);
}

} // namespace

} // namespace tilewright
