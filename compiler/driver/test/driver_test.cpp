// The whole road on small TOSA graphs: what buffering buys, how near the estimate is, how often the
// same bytes come out.
#include "tilewright/compiler/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine.h"
#include "tilewright/support/error.h"

#include <fstream>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

// A 3x3 convolution, 56x56, 32 to 32 channels: several tiles.
const char *convolution = R"(
func.func @main(%x: tensor<1x56x56x32xi8>) -> tensor<1x56x56x32xi32> {
  %w = "tosa.const"() {values = dense<3> : tensor<32x3x3x32xi8>} : () -> tensor<32x3x3x32xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<32xi32>} : () -> tensor<32xi32>
  %xz = "tosa.const"() {values = dense<2> : tensor<1xi8>} : () -> tensor<1xi8>
  %wz = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = tosa.conv2d %x, %w, %b, %xz, %wz {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x56x56x32xi8>, tensor<32x3x3x32xi8>, tensor<32xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x56x56x32xi32>
  return %y : tensor<1x56x56x32xi32>
}
)";

std::string writeModel(const char *text) {
  // Tests run side by side: each has its own file.
  std::string path = ::testing::TempDir() + "/driver_test_" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".mlir";
  std::ofstream(path) << text;
  return path;
}

CompileOptions optionsFor(const char *text) {
  CompileOptions options;
  options.model = writeModel(text);
  return options;
}

int64_t cyclesOf(const std::string &elf) {
  static const isa::Isa isa = isa::load({});
  Program program = readProgram("test.elf", elf, isa);
  DramImage dram(program);
  return makeEngine("cycle", isa)->run(program, dram, {}).cycles;
}

} // namespace

TEST(Driver, DoubleBufferingBeatsSingleBeatsNone) {
  CompileOptions options = optionsFor(convolution);
  options.buffering = Buffering::Double;
  int64_t twice = cyclesOf(compile(options).output);
  options.buffering = Buffering::Single;
  int64_t once = cyclesOf(compile(options).output);
  options.buffering = Buffering::None;
  int64_t none = cyclesOf(compile(options).output);
  EXPECT_LT(twice, once);
  EXPECT_LT(once, none);
}

TEST(Driver, EstimateIsNearTheSimulation) {
  std::string elf = compile(optionsFor(convolution)).output;
  static const isa::Isa isa = isa::load({});
  Program program = readProgram("test.elf", elf, isa);
  ASSERT_EQ(program.layers.size(), 1u);
  EXPECT_NEAR(static_cast<double>(program.layers[0].estimateCycles) /
                  static_cast<double>(cyclesOf(elf)),
              1, 0.1);
}

TEST(Driver, SameInputSameBytes) {
  EXPECT_EQ(compile(optionsFor(convolution)).output, compile(optionsFor(convolution)).output);
}

TEST(Driver, AFloatModelNeedsQuantization) {
  CompileOptions options =
      optionsFor("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = tosa.abs %x : "
                 "(tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n");
  options.quantize = "none";
  try {
    compile(options);
    FAIL() << "no error";
  } catch (const UserError &error) {
    EXPECT_EQ(
        error.message(),
        "the model is float and --quantize none leaves it so; the target computes on integers");
    EXPECT_EQ(error.place().file, options.model);
  }
}

} // namespace tilewright
