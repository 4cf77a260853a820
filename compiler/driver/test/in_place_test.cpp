// Concatenations: whether the tensors are copied, and that the result is right either way.
#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace tilewright {

namespace {

using ::testing::HasSubstr;

constexpr int64_t count = 6000; // elements of the input

// %a = |%x|, %b = -%x, and what is made of them.
CompileResult compileText(const std::string &body, const std::string &type) {
  CompileOptions options;
  options.model = ::testing::TempDir() + "/in_place_test_" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".mlir";
  std::ofstream(options.model) << "func.func @main(%x: tensor<1x10x600xi32>) -> tensor<" + type +
                                      R"(xi32> {
    %zp = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
    %a = tosa.abs %x : (tensor<1x10x600xi32>) -> tensor<1x10x600xi32>
    %b = tosa.negate %x, %zp, %zp : (tensor<1x10x600xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x10x600xi32>
)" + body + "return %y : tensor<" + type +
                                      "xi32> }";
  return compile(options);
}

std::vector<int32_t> run(const std::string &elf) {
  static const isa::Isa isa = isa::load({});
  Program program = readProgram("test.elf", elf, isa);
  DramImage dram(program);
  std::vector<int32_t> input(count);
  std::iota(input.begin(), input.end(), -count / 2);
  std::memcpy(dram.data() + program.inputs[0].address, input.data(), input.size() * 4);
  makeEngine("functional", isa)->run(program, dram, {});
  std::vector<int32_t> output(static_cast<size_t>(
      std::accumulate(program.outputs[0].shape.begin(), program.outputs[0].shape.end(), int64_t(1),
                      std::multiplies<>())));
  std::memcpy(output.data(), dram.data() + program.outputs[0].address, output.size() * 4);
  return output;
}

int32_t input(int64_t i) { return static_cast<int32_t>(i - count / 2); }
int32_t a(int64_t i) { return std::abs(input(i)); }
int32_t b(int64_t i) { return -input(i); }

} // namespace

static size_t timesIn(const std::string &text, const std::string &part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++times;
  return times;
}

// Row by row: what repeats a tensor reads rows that follow each other.
TEST(InPlace, ATensorThatIsRepeatedBesideItselfIsCopied) {
  CompileOptions options;
  options.model = ::testing::TempDir() + "/in_place_test_repeated.mlir";
  std::ofstream(options.model) << R"(
func.func @main(%x: tensor<1x10x600xi32>) -> (tensor<1x10x1800xi32>, tensor<1x10x600xi32>) {
    %zp = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
    %a = tosa.abs %x : (tensor<1x10x600xi32>) -> tensor<1x10x600xi32>
    %s = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %t = tosa.tile %a, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<1x10x1200xi32>
    %y = tosa.concat %a, %t {axis = 2 : i32} : (tensor<1x10x600xi32>, tensor<1x10x1200xi32>) -> tensor<1x10x1800xi32>
    %z = tosa.negate %a, %zp, %zp : (tensor<1x10x600xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x10x600xi32>
    return %y, %z : tensor<1x10x1800xi32>, tensor<1x10x600xi32>
})";
  const std::vector<int32_t> y = run(compile(options).output);
  for (int64_t row = 0; row < 10; ++row)
    for (int64_t column = 0; column < 1800; ++column)
      ASSERT_EQ(y[static_cast<size_t>(row * 1800 + column)], a(row * 600 + column % 600));
}

TEST(InPlace, TensorsBehindEachOtherAreNotCopied) {
  CompileResult result = compileText(R"(
    %y = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x20x600xi32>
)",
                                     "1x20x600");
  EXPECT_THAT(result.plan, HasSubstr("written in place"));
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i] == a(i) && y[count + i] == b(i)) << i;
}

TEST(InPlace, ReshapesBetweenDoNotMatter) {
  CompileResult result = compileText(R"(
    %s = tosa.const_shape {values = dense<[2, 5, 600]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %c = tosa.reshape %a, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<2x5x600xi32>
    %d = tosa.reshape %b, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<2x5x600xi32>
    %e = tosa.concat %c, %d {axis = 0 : i32} : (tensor<2x5x600xi32>, tensor<2x5x600xi32>) -> tensor<4x5x600xi32>
    %y = tosa.negate %e, %zp, %zp : (tensor<4x5x600xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4x5x600xi32>
)",
                                     "4x5x600");
  EXPECT_THAT(result.plan, HasSubstr("written in place"));
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i] == -a(i) && y[count + i] == -b(i)) << i;
}

TEST(InPlace, RowsSideBySideAreNotCopied) {
  CompileResult result = compileText(R"(
    %y = tosa.concat %a, %b {axis = 2 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x10x1200xi32>
)",
                                     "1x10x1200");
  EXPECT_THAT(result.plan, HasSubstr("written in place"));
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i / 600 * 1200 + i % 600] == a(i) && y[i / 600 * 1200 + 600 + i % 600] == b(i))
        << i;
}

TEST(InPlace, OthersReadThemWhereTheyAre) {
  CompileResult result = compileText(R"(
    %e = tosa.concat %a, %b {axis = 0 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
    %y = tosa.add %e, %a : (tensor<2x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
)",
                                     "2x10x600");
  EXPECT_THAT(result.plan, HasSubstr("written in place"));
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i] == 2 * a(i) && y[count + i] == a(i) + b(i)) << i;
}

TEST(InPlace, OthersReadRowsThatStandApart) {
  CompileResult result = compileText(R"(
    %e = tosa.concat %a, %b {axis = 2 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x10x1200xi32>
    %s = tosa.const_shape {values = dense<[2, 5, 600]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %c = tosa.reshape %b, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<2x5x600xi32>
    %d = tosa.reshape %a, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<2x5x600xi32>
    %f = tosa.sub %d, %c : (tensor<2x5x600xi32>, tensor<2x5x600xi32>) -> tensor<2x5x600xi32>
    %t = tosa.const_shape {values = dense<[1, 10, 600]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %g = tosa.reshape %f, %t : (tensor<2x5x600xi32>, !tosa.shape<3>) -> tensor<1x10x600xi32>
    %h = tosa.concat %g, %g {axis = 2 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x10x1200xi32>
    %y = tosa.add %e, %h : (tensor<1x10x1200xi32>, tensor<1x10x1200xi32>) -> tensor<1x10x1200xi32>
)",
                                     "1x10x1200");
  EXPECT_THAT(result.plan, HasSubstr("written in place"));
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i / 600 * 1200 + i % 600] == 2 * a(i) - b(i) &&
                y[i / 600 * 1200 + 600 + i % 600] == a(i))
        << i;
}

TEST(InPlace, WhatIsReadAcrossRowsIsCopied) {
  const char *readers[] = {
      // a reduction along the rows
      R"(%c = tosa.reduce_sum %b {axis = 1 : i32} : (tensor<1x10x600xi32>) -> tensor<1x1x600xi32>)",
      // a reversal
      R"(%c = tosa.reverse %b {axis = 1 : i32} : (tensor<1x10x600xi32>) -> tensor<1x10x600xi32>)",
      // rows of another length
      R"(%s = tosa.const_shape {values = dense<[1, 20, 300]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %d = tosa.reshape %b, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<1x20x300xi32>
    %g = tosa.abs %d : (tensor<1x20x300xi32>) -> tensor<1x20x300xi32>
    %t = tosa.const_shape {values = dense<[1, 10, 600]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %c = tosa.reshape %g, %t : (tensor<1x20x300xi32>, !tosa.shape<3>) -> tensor<1x10x600xi32>)"};
  auto expected = [](size_t reader, int64_t i) {
    int32_t sum = 0;
    for (int64_t row = 0; row < 10; ++row)
      sum += b(row * 600 + i % 600);
    const int32_t values[] = {sum, b((9 - i / 600) * 600 + i % 600), std::abs(b(i))};
    return values[reader];
  };
  for (size_t reader = 0; reader < std::size(readers); ++reader) {
    const std::string rows = reader == 0 ? "1" : "10";
    CompileResult result = compileText(
        "%e = tosa.concat %a, %b {axis = 2 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) "
        "-> tensor<1x10x1200xi32>\n" +
            std::string(readers[reader]) + "%f = tosa.concat %c, %c {axis = 2 : i32} : (tensor<1x" +
            rows + "x600xi32>, tensor<1x" + rows + "x600xi32>) -> tensor<1x" + rows +
            "x1200xi32>\n%y = tosa.add %e, %f : (tensor<1x10x1200xi32>, tensor<1x" + rows +
            "x1200xi32>) -> tensor<1x10x1200xi32>\n",
        "1x10x1200");
    // The second concatenation takes one tensor twice, which its group stores twice.
    EXPECT_EQ(timesIn(result.plan, "written in place"), reader == 1 ? 0U : 1U) << reader;
    std::vector<int32_t> y = run(result.output);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_TRUE(y[i / 600 * 1200 + i % 600] == a(i) + expected(reader, i) &&
                  y[i / 600 * 1200 + 600 + i % 600] == b(i) + expected(reader, i))
          << reader << ", " << i;
  }
}

TEST(InPlace, WhatOnlyATransposeReadsIsStoredTransposed) {
  CompileResult result = compileText(R"(
    %e = tosa.sub %a, %b : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x10x600xi32>
    %s = tosa.const_shape {values = dense<[10, 20, 30]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %c = tosa.reshape %e, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<10x20x30xi32>
    %f = tosa.transpose %c {perms = array<i32: 1, 2, 0>} : (tensor<10x20x30xi32>) -> tensor<20x30x10xi32>
    %y = tosa.abs %f : (tensor<20x30x10xi32>) -> tensor<20x30x10xi32>
)",
                                     "20x30x10");
  EXPECT_EQ(timesIn(result.plan, "written in place"), 1U);
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(y[i % 600 * 10 + i / 600], std::abs(a(i) - b(i))) << i;
}

TEST(InPlace, PartsOfATensorGoApart) {
  CompileResult result = compileText(R"(
    %e = tosa.sub %a, %b : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<1x10x600xi32>
    %s = tosa.const_shape {values = dense<[1, 10, 200]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %o = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %p = tosa.const_shape {values = dense<[0, 0, 400]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %c = tosa.slice %e, %o, %s : (tensor<1x10x600xi32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x10x200xi32>
    %d = tosa.slice %e, %p, %s : (tensor<1x10x600xi32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x10x200xi32>
    %y = tosa.add %c, %d : (tensor<1x10x200xi32>, tensor<1x10x200xi32>) -> tensor<1x10x200xi32>
)",
                                     "1x10x200");
  EXPECT_EQ(timesIn(result.plan, "written in place"), 2U);
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < 2000; ++i) {
    const int64_t at = i / 200 * 600 + i % 200;
    ASSERT_EQ(y[i], a(at) - b(at) + a(at + 400) - b(at + 400)) << i;
  }
}

TEST(InPlace, AConcatenationIsReadWhereItsPartsStand) {
  CompileResult result = compileText(R"(
    %s = tosa.const_shape {values = dense<[3, 20, 100]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %c = tosa.reshape %a, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<3x20x100xi32>
    %d = tosa.reshape %b, %s : (tensor<1x10x600xi32>, !tosa.shape<3>) -> tensor<3x20x100xi32>
    %e = tosa.concat %c, %d {axis = 1 : i32} : (tensor<3x20x100xi32>, tensor<3x20x100xi32>) -> tensor<3x40x100xi32>
    %f = tosa.reduce_sum %c {axis = 1 : i32} : (tensor<3x20x100xi32>) -> tensor<3x1x100xi32>
    %g = tosa.reduce_sum %d {axis = 1 : i32} : (tensor<3x20x100xi32>) -> tensor<3x1x100xi32>
    %h = tosa.add %f, %g : (tensor<3x1x100xi32>, tensor<3x1x100xi32>) -> tensor<3x1x100xi32>
    %y = tosa.sub %e, %h : (tensor<3x40x100xi32>, tensor<3x1x100xi32>) -> tensor<3x40x100xi32>
)",
                                     "3x40x100");
  EXPECT_EQ(timesIn(result.plan, "read in place"), 1U);
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < 12000; ++i) {
    const int64_t batch = i / 4000, row = i / 100 % 40, column = i % 100;
    auto part = [&](int64_t at) {
      return at < 20 ? a(batch * 2000 + at * 100 + column)
                     : b(batch * 2000 + (at - 20) * 100 + column);
    };
    int32_t sum = 0;
    for (int64_t at = 0; at < 40; ++at)
      sum += part(at);
    ASSERT_EQ(y[i], part(row) - sum) << i;
  }
}

TEST(InPlace, ATensorHasOnePlace) {
  CompileResult result = compileText(R"(
    %e = tosa.concat %a, %b {axis = 0 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
    %f = tosa.concat %b, %a {axis = 0 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
    %y = tosa.sub %e, %f : (tensor<2x10x600xi32>, tensor<2x10x600xi32>) -> tensor<2x10x600xi32>
)",
                                     "2x10x600");
  EXPECT_THAT(result.plan, HasSubstr("written in place"));
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i] == a(i) - b(i) && y[count + i] == b(i) - a(i)) << i;
}

TEST(InPlace, TheSameTensorTwiceIsCopied) {
  CompileResult result = compileText(R"(
    %y = tosa.concat %a, %a {axis = 0 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
)",
                                     "2x10x600");
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i] == a(i) && y[count + i] == a(i)) << i;
}

TEST(InPlace, AConcatenationInAConcatenation) {
  CompileResult result = compileText(R"(
    %e = tosa.concat %a, %b {axis = 0 : i32} : (tensor<1x10x600xi32>, tensor<1x10x600xi32>) -> tensor<2x10x600xi32>
    %w = tosa.negate %b, %zp, %zp : (tensor<1x10x600xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x10x600xi32>
    %y = tosa.concat %e, %w {axis = 0 : i32} : (tensor<2x10x600xi32>, tensor<1x10x600xi32>) -> tensor<3x10x600xi32>
)",
                                     "3x10x600");
  std::vector<int32_t> y = run(result.output);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(y[i] == a(i) && y[count + i] == b(i) && y[2 * count + i] == -b(i)) << i;
}

} // namespace tilewright
