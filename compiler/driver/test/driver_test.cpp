// The whole road on small TOSA graphs: what buffering buys, how near the estimate is, how often the
// same bytes come out.
#include "network.h"
#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/npy.h"
#include "tilewright/testing/source_path.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// Float: a convolution and a pool under names of the user's, NHWC.
const char *floatNet = R"(
func.func @main(%x: tensor<1x16x16x8xf32> {tilewright.name = "the image"}) -> (tensor<1x8x8x8xf32> {tilewright.name = "scores"}) {
  %w = "tosa.const"() {values = dense<0.25> : tensor<8x3x3x8xf32>} : () -> tensor<8x3x3x8xf32>
  %b = "tosa.const"() {values = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x16x16x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x8xf32> loc("block/conv \"1\""("Conv"))
  %p = tosa.max_pool2d %y {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
     : (tensor<1x16x16x8xf32>) -> tensor<1x8x8x8xf32>
  return %p : tensor<1x8x8x8xf32>
}
)";

std::string writeModel(const std::string &text) {
  // Tests run side by side: each has its own file.
  std::string path = ::testing::TempDir() + "/driver_test_" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".mlir";
  std::ofstream(path) << text;
  return path;
}

CompileOptions optionsFor(const std::string &text) {
  CompileOptions options;
  options.model = writeModel(text);
  return options;
}

// What a module of a later stage is refused with.
std::string diagnosticOf(Stage from, const std::string &text) {
  CompileOptions options = optionsFor(text);
  options.from = from;
  try {
    compile(options);
    return "[accepted]";
  } catch (const UserError &error) {
    std::string message = error.diagnostic();
    size_t file = message.find(options.model);
    return file == std::string::npos ? message : message.replace(file, options.model.size(), "M");
  }
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
    EXPECT_EQ(error.fix(), "leave --quantize at int8, or stop at --emit tosa");
  }
}

TEST(Driver, IntegersAreNotQuantizedAgain) {
  CompileOptions options = optionsFor(convolution);
  options.quantizerOption = "--precision";
  try {
    compile(options);
    FAIL() << "no error";
  } catch (const UserError &error) {
    EXPECT_EQ(error.message(), "--precision has no effect: the model is integer already");
    EXPECT_EQ(error.place().file, options.model);
    EXPECT_EQ(error.fix(), "leave it out");
  }
}

// Printing a stage and going on from there gives the bytes that the whole road gives.
static void expectSameFromEveryStage(const char *text) {
  CompileOptions direct = optionsFor(text);
  std::string elf = compile(direct).output;
  for (Stage stage : {Stage::Import, Stage::Tosa, Stage::Kernel, Stage::Npu, Stage::Elf}) {
    SCOPED_TRACE(name(stage));
    CompileOptions to = optionsFor(text);
    to.to = stage;
    std::string printed = compile(to).output;
    CompileOptions from = optionsFor(printed);
    from.from = stage;
    EXPECT_TRUE(compile(from).output == elf);
    from.to = stage;
    EXPECT_TRUE(compile(from).output == printed);
  }
}

TEST(Driver, AnIntegerNetGoesOnFromEveryStage) { expectSameFromEveryStage(convolution); }

TEST(Driver, AFloatNetGoesOnFromEveryStage) { expectSameFromEveryStage(floatNet); }

TEST(Driver, ThePlanNamesTheRunnerUp) {
  CompileOptions options = optionsFor(convolution);
  const isa::Isa isa = isa::load({});
  Program program = readProgram("p.elf", compile(options).output, isa);
  program.layers.at(0).runnerUp = RunnerUp{"another plan", 12, 10};
  CompileOptions again = optionsFor(writeProgram(program, isa));
  again.from = Stage::Elf;
  const CompileResult result = compile(again);
  EXPECT_NE(result.plan.find("\n  alone 10 cycles; next best 12: another plan\n"),
            std::string::npos);
  EXPECT_EQ(readProgram("p.elf", result.output, isa).layers.at(0).runnerUp->plan, "another plan");
}

TEST(Driver, TellsOfEveryPhaseOfAFloatModel) {
  CompileOptions options = optionsFor(floatNet);
  PhaseTimes times;
  options.times = &times;
  compile(options);
  std::vector<std::string> names;
  for (const PhaseTime &phase : times.phases())
    names.push_back(phase.name);
  EXPECT_THAT(names, ::testing::ElementsAre("target", "import", "graph-fold", "graph-layout",
                                            "graph-decompose", "float-code", "calibration",
                                            "integers", "quantize", "tosa-to-kernel", "kernel-fuse",
                                            "schedule", "npu", "program", "release"));
}

std::string explanationOf(CompileOptions options) {
  std::string explained;
  options.explainSelection = [&](const std::string &text) { explained = text; };
  options.to = Stage::Kernel;
  compile(options);
  return explained;
}

std::string wholeExplanationOf(CompileOptions options) {
  options.explainsAll = true;
  return explanationOf(options);
}

// |a - b| of 32 bits, summed up.
const char *difference = R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> (tensor<4x8xi32>, tensor<4x1xi32>) {
  %d = tosa.sub %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %e = tosa.abs %d : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %f = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<4x8xi32>) -> tensor<4x1xi32>
  return %e, %f : tensor<4x8xi32>, tensor<4x1xi32>
}
)";

CompileOptions withOverlay(CompileOptions options, const std::string &name) {
  options.overlays = {sourcePath("isa/what-if/" + name + ".yaml")};
  return options;
}

TEST(Driver, ExplainsEachInstructionInAFewLines) {
  const std::string explained = explanationOf(optionsFor(difference));
  EXPECT_THAT(explained, HasSubstr("vabs:\n  abs of 32 bits in 1 layer (sub_0 (sub)): is taken\n"));
  EXPECT_THAT(explained,
              HasSubstr("\nvsum:\n  reduce_sum of 32 bits in 1 layer (reduce_sum_0 (reduce_sum)): "
                        "is taken\n"));
  EXPECT_THAT(explained, HasSubstr("\nvmax:\n"));
  EXPECT_LT(std::count(explained.begin(), explained.end(), '\n'),
            5 * static_cast<long>(isa::load({}).instructions().size()));
}

TEST(Driver, ExplainsTheNearestFirst) {
  const std::string explained = wholeExplanationOf(optionsFor(difference));
  const size_t taken = explained.find("  abs of 32 bits: vabs is taken\n"),
               other = explained.find("does not: ");
  ASSERT_NE(taken, std::string::npos);
  EXPECT_LT(taken, other);
}

// An operator that differs in its type alone is nearer than others, however many of them there are.
TEST(Driver, TheSameOperatorIsTheNearest) {
  const std::string overlay = ::testing::TempDir() + "/the_same_operator.yaml";
  std::ofstream(overlay) << R"yaml(
schema: "tilewright/overlay/1"
name: "o"
summary: "s"
instructions:
  vmask:
    name: "vmask"
    summary: "A logical shift."
    unit: "vector"
    encode: { op: "0xc3" }
    operands:
      a: { kind: "mem", space: "acc", type: "i32", access: "read" }
      b: { kind: "mem", space: "acc", type: "i32", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u8" }
      nc: { kind: "imm", type: "u8" }
    semantics:
      map:
        iter: [ "y in n1", "x in n0", "c in nc" ]
        out: "d[y * d_s1 + x * d_s0 + c]"
        expr: "cast<i32>(cast<u32>(a[y * a_s1 + x * a_s0 + c * a_sc]) >> (b[y * b_s1 + x * b_s0 + c * b_sc] & 31))"
)yaml";
  CompileOptions options = optionsFor(R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %1 = tosa.add %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc("one"("A"))
  %2 = tosa.minimum %1, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc("one"("A"))
  %3 = tosa.maximum %2, %a : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc("one"("A"))
  %4 = tosa.arithmetic_right_shift %3, %b {round = false} : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  return %4 : tensor<4x8xi32>
}
)");
  options.overlays = {overlay};
  EXPECT_THAT(compile(options).overlayUse,
              testing::StartsWith("vmask: taken nowhere; the nearest operators are asr of 32 bits "
                                  "in 1 layer (one (A)), because the instruction has >> of u32 "
                                  "where the operator has i32; "));
}

// Every operator of the model is a layer, or says whose part it is.
TEST(Driver, EveryOperatorHasALayerOrSaysWhereItWent) {
  const CompileResult result = compile(optionsFor(R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<32xi32> {
  %d = tosa.sub %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %e = tosa.abs %d : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %u = tosa.maximum %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %s = tosa.const_shape {values = dense<[32]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %f = tosa.reshape %e, %s : (tensor<4x8xi32>, !tosa.shape<1>) -> tensor<32xi32>
  return %f : tensor<32xi32>
}
)"));
  EXPECT_THAT(result.plan, HasSubstr("sub_0 (sub): "));
  EXPECT_THAT(result.plan, HasSubstr("\nabs_0 (abs): not by itself: part of sub_0 (sub)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("\nreshape_0 (reshape): not by itself: absorbed by sub_0 (sub)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("\nmaximum_0 (maximum): not by itself: no output depends on it\n"));
}

// Two operators of one name and kind are one, which is needed where either is. What was known at
// import is a constant, whatever it reads.
TEST(Driver, SaysWhatOperatorsWithoutALayerAre) {
  const CompileResult result = compile(optionsFor(R"(
module attributes {tilewright.operators = [
    {name = "a", op = "Abs", reads = array<i64: -1>},
    {name = "b", op = "Reshape", reads = array<i64: 0>},
    {name = "b", op = "Reshape", reads = array<i64: 0>, unneeded},
    {name = "s", op = "Shape", reads = array<i64: 0>, constant},
    {name = "g", op = "Gather", reads = array<i64: 3>},
    {name = "g", op = "Gather", reads = array<i64: -1>, unneeded},
    {name = "c", op = "Cast", reads = array<i64: 3>}]} {
  func.func @main(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
    %a = tosa.abs %x : (tensor<4x8xi32>) -> tensor<4x8xi32> loc("a"("Abs"))
    return %a : tensor<4x8xi32>
  }
}
)"));
  EXPECT_THAT(result.plan, HasSubstr("b (Reshape): not by itself: absorbed by a (Abs)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("s (Shape): not by itself: a constant that the compiler computed\n"));
  EXPECT_THAT(result.plan, HasSubstr("g (Gather): not by itself: absorbed by a (Abs)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("c (Cast): not by itself: a constant that the compiler computed\n"));
}

TEST(Driver, SaysWhereAnOverlaysInstructionIsTaken) {
  const CompileResult result = compile(withOverlay(optionsFor(difference), "absolute-difference"));
  EXPECT_EQ(result.overlayUse, "vabsdiff: taken 2 times, in 1 layer: sub_0 (sub)\n");
}

TEST(Driver, SaysWhyAnOverlaysInstructionIsTakenNowhere) {
  const CompileResult result = compile(withOverlay(optionsFor(difference), "multiply-add"));
  EXPECT_THAT(result.overlayUse,
              testing::StartsWith("vmuladd: taken nowhere; the nearest operators are "));
  EXPECT_THAT(result.overlayUse, HasSubstr(" in 1 layer (sub_0 (sub)), because "));
}

TEST(Driver, SaysThatTheModelHasNothingForAnOverlaysInstruction) {
  EXPECT_EQ(compile(withOverlay(optionsFor(convolution), "minimum-reduction")).overlayUse,
            "vminimum: taken nowhere; the model has no operator that it could be compared with\n");
  EXPECT_EQ(compile(withOverlay(optionsFor(convolution), "depthwise")).overlayUse,
            "mdw: taken nowhere; the model has no depthwise convolution\n");
  EXPECT_EQ(compile(withOverlay(optionsFor(difference), "output-stationary")).overlayUse,
            "msum: taken nowhere; the model has no convolution and no matrix product\n");
}

TEST(Driver, SaysNothingOfInstructionsThatNoOverlayNames) {
  EXPECT_EQ(compile(withOverlay(optionsFor(convolution), "wide-array")).overlayUse, "");
  EXPECT_EQ(compile(optionsFor(convolution)).overlayUse, "");
}

// Twelve convolutions one behind the other, each of which adds its noise: 16 bits are worth it.
CompileOptions noisyNet() {
  std::string text = "func.func @main(%c0: tensor<1x8x8x4xf32> {tilewright.name = \"x\"}) -> "
                     "tensor<1x8x8x4xf32> {\n"
                     "%w = \"tosa.const\"() {values = dense<[[[[0.61, -0.37, 0.93, 0.11]]], "
                     "[[[-0.83, 0.47, 0.29, 0.71]]], [[[0.53, 0.97, -0.19, -0.67]]], "
                     "[[[0.31, -0.59, 0.79, -0.41]]]]> : tensor<4x1x1x4xf32>} : () -> "
                     "tensor<4x1x1x4xf32>\n"
                     "%b = \"tosa.const\"() {values = dense<0.0> : tensor<4xf32>} : () -> "
                     "tensor<4xf32>\n"
                     "%z = \"tosa.const\"() {values = dense<0.0> : tensor<1xf32>} : () -> "
                     "tensor<1xf32>\n";
  const int count = 12;
  for (int i = 0; i < count; ++i)
    text += fmt::format(
        "%d{0} = tosa.conv2d %c{0}, %w, %b, %z, %z {{acc_type = f32, pad = array<i64: 0, 0, 0, 0>, "
        "stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : (tensor<1x8x8x4xf32>, "
        "tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>\n"
        "%c{1} = tosa.clamp %d{0} {{min_val = -1.0 : f32, max_val = 1.0 : f32}} : "
        "(tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>\n",
        i, i + 1);
  CompileOptions options =
      optionsFor(text + fmt::format("return %c{} : tensor<1x8x8x4xf32>\n}}\n", count));
  options.calibration = options.model + ".samples";
  std::filesystem::create_directories(options.calibration);
  Tensor samples = makeTensor(DType::F32, {8, 8, 8, 4});
  std::mt19937 random(7);
  for (int64_t i = 0; i < samples.elements(); ++i)
    samples.data<float>()[i] = static_cast<float>(random() % 4001) / 1000 - 2;
  writeNpy(options.calibration + "/x.npy", samples);
  return options;
}

TEST(Driver, TellsWhatExtendedPrecisionCosts) {
  CompileOptions options = noisyNet();
  const CompileResult automatic = compile(options);
  ASSERT_TRUE(automatic.quantization.choice);
  ASSERT_EQ(automatic.quantization.choice->precision, Precision::Extended);
  ASSERT_TRUE(automatic.precisionCost);
  auto estimateOf = [&](Precision precision, bool chains) {
    options.quantization.precision = precision;
    options.chains = chains;
    const Program program = readProgram("p.elf", compile(options).output, isa::load({}));
    int64_t cycles = 0;
    for (const LayerInfo &layer : program.layers)
      cycles += layer.estimateCycles;
    return static_cast<double>(cycles);
  };
  const auto standard = static_cast<double>(automatic.precisionCost->standardCycles);
  EXPECT_EQ(static_cast<double>(automatic.precisionCost->extendedCycles),
            estimateOf(Precision::Extended, true));
  // Set-up and end are counted, too.
  EXPECT_NEAR(standard, estimateOf(Precision::Standard, false), 200);
  EXPECT_GE(standard, estimateOf(Precision::Standard, true));
  EXPECT_GT(static_cast<double>(automatic.precisionCost->extendedCycles), standard);
}

TEST(Driver, TellsNoCostWhereNothingWasChosen) {
  CompileOptions options = noisyNet();
  options.quantization.precision = Precision::Extended;
  EXPECT_FALSE(compile(options).precisionCost);
  EXPECT_FALSE(compile(optionsFor(floatNet)).precisionCost);
}

TEST(Driver, ExplainsByWhichRunAnInstructionComesClosest) {
  CompileOptions options = optionsFor(R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %d = tosa.sub %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %e = tosa.abs %d : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %e : tensor<4x8xi32>
}
)");
  options.overlays = {options.model + ".yaml"};
  std::ofstream(options.overlays[0]) << R"yaml(
schema: "tilewright/overlay/1"
name: "narrow"
summary: "An absolute difference whose second operand has 8 bits."
instructions:
  vnear:
    name: "vnear"
    summary: "|a - b|"
    unit: "vector"
    encode: { op: "0xc0" }
    operands:
      a: { kind: "mem", space: "acc", type: "i32", access: "read" }
      b: { kind: "mem", space: "spad", type: "i8", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
      nc: { kind: "imm", type: "u12" }
    semantics:
      map:
        iter: [ "y in n1", "x in n0", "c in nc" ]
        out: "d[y * d_s1 + x * d_s0 + c]"
        expr: "cast<i32>(max(cast<i32>(a[y * a_s1 + x * a_s0 + c] - b[y * b_s1 + x * b_s0 + c]), -cast<i32>(a[y * a_s1 + x * a_s0 + c] - b[y * b_s1 + x * b_s0 + c])))"
timing:
  instructions:
    vnear: { latency: "5" }
)yaml";
  const std::string explained = wholeExplanationOf(options);
  EXPECT_THAT(explained,
              HasSubstr("  sub + abs of 32 bits: vnear does not: operand 'b' is read from the "
                        "scratchpad, where a value of i32 does not stand\n"));
  // What computes some run has no such line.
  EXPECT_THAT(explained, HasSubstr("  abs of 32 bits: vabs is taken\n"));
  EXPECT_THAT(explained, Not(HasSubstr("  sub + abs of 32 bits: vabs ")));
}

TEST(Driver, ExplainsWhatSlidesWindows) {
  CompileOptions options =
      optionsFor(Network(8, 8, 16).conv(16, 1, 1).depthwise(3, 1).conv(16, 1, 1).text());
  const char *line =
      "  depthwise: mdw computes it, where the plan has depthwise products on the array\n";
  EXPECT_THAT(wholeExplanationOf(options), Not(HasSubstr(line)));
  options.overlays = {sourcePath("isa/what-if/depthwise.yaml")};
  EXPECT_THAT(wholeExplanationOf(options), HasSubstr(line));
}

TEST(Driver, ExplainsWhoseSumsStandInTheArray) {
  CompileOptions options = optionsFor(Network(8, 8, 16).conv(16, 1, 1).text());
  const char *line = "  conv2d: msum computes it, where the plan is output-stationary\n";
  EXPECT_THAT(wholeExplanationOf(options), Not(HasSubstr(line)));
  options.overlays = {sourcePath("isa/what-if/output-stationary.yaml")};
  EXPECT_THAT(wholeExplanationOf(options), HasSubstr(line));
}

TEST(Driver, DumpsEveryPhaseInOrder) {
  CompileOptions options = optionsFor(floatNet);
  std::vector<std::string> files;
  const std::string folder = options.model + ".phase-";
  options.phaseEnded = [&](const std::string &name, const std::string &text) {
    files.push_back(name);
    writeFile(folder + name, text);
  };
  std::string elf = compile(options).output;
  EXPECT_EQ(files, (std::vector<std::string>{"00-import.mlir", "01-graph-fold.mlir",
                                             "02-graph-layout.mlir", "03-graph-fold.mlir",
                                             "04-graph-decompose.mlir", "05-quantize.mlir",
                                             "06-tosa-to-kernel.mlir", "07-kernel-fuse.mlir",
                                             "08-npu.mlir", "09-program.s"}));
  const std::pair<const char *, Stage> ways[] = {{"00-import.mlir", Stage::Import},
                                                 {"04-graph-decompose.mlir", Stage::Import},
                                                 {"05-quantize.mlir", Stage::Tosa},
                                                 {"07-kernel-fuse.mlir", Stage::Kernel},
                                                 {"08-npu.mlir", Stage::Npu}};
  for (auto [file, stage] : ways) {
    SCOPED_TRACE(file);
    CompileOptions from;
    from.model = folder + file;
    from.from = stage;
    EXPECT_TRUE(compile(from).output == elf);
  }
}

TEST(Driver, DumpsPhasesUpToTheStageAskedFor) {
  CompileOptions options = optionsFor(convolution);
  std::string last;
  options.phaseEnded = [&](const std::string &name, const std::string &) { last = name; };
  options.to = Stage::Kernel;
  compile(options);
  EXPECT_EQ(last, "06-kernel-fuse.mlir");
}

TEST(Driver, RefusesAModuleOfAnotherStage) {
  EXPECT_EQ(diagnosticOf(Stage::Kernel, convolution),
            "M:7:8: error: 'tosa.conv2d' op is no kernel operation: run tosa-to-kernel first");
  EXPECT_EQ(diagnosticOf(Stage::Npu, convolution),
            "M:2:1: error: Dialect `func' not found for custom op 'func.func' ");
  EXPECT_EQ(diagnosticOf(Stage::Tosa, floatNet),
            "M: error: the module is float; --compile-from tosa goes on behind the quantizer\n"
            "  fix: leave out --compile-from");
  EXPECT_EQ(diagnosticOf(Stage::Kernel, std::string("ML\xefR")),
            "M: error: is MLIR bytecode; this stage is read as text");
}

TEST(Driver, RefusesAProgramForAnUnknownTarget) {
  CompileOptions options = optionsFor(convolution);
  options.to = Stage::Npu;
  std::string text = compile(options).output;
  text.replace(text.find("edge16"), 6, "edge61");
  EXPECT_EQ(diagnosticOf(Stage::Npu, text),
            "M:2:3: error: 'npu.program' op is for a target that cannot be loaded: there is no "
            "target 'edge61'");
}

TEST(Driver, RefusesKernelsThatCannotBeScheduled) {
  auto kernels = [](const std::string &body) {
    return diagnosticOf(Stage::Kernel,
                        "func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n" + body + "\n}\n");
  };
  EXPECT_EQ(kernels("return %x : tensor<4xi32>"),
            "M:2:1: error: 'func.return' op every result must be that of a kernel.group");
  EXPECT_EQ(kernels("%y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>\n"
                    "return %y : tensor<4xi32>"),
            "M:2:6: error: 'kernel.unary' op must stand in a kernel.group: run kernel-fuse first");
  std::string abs = "  %y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>\n";
  EXPECT_EQ(kernels("%g = kernel.group {\n" + abs +
                    "  kernel.yield %x : tensor<4xi32>\n} : tensor<4xi32>\n"
                    "return %g : tensor<4xi32>"),
            "M:2:6: error: 'kernel.group' op holds 'kernel.unary', which nothing reads");
  EXPECT_EQ(kernels("%g = kernel.group {\n" + abs +
                    "  kernel.yield %y : tensor<4xi32>\n} : tensor<4xi32>\n"
                    "return %g, %g : tensor<4xi32>, tensor<4xi32>"),
            "M:6:1: error: 'func.return' op has 2 operands, but enclosing function (@main) returns "
            "1");
}

} // namespace tilewright
