// The whole pipeline on small TOSA graphs: what buffering buys, how near the estimate is, how often
// the same bytes come out.
#include "small_network.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/npy.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

int64_t cyclesOf(const std::string &elf) {
  static const isa::Isa isa = isa::load({});
  Program program = readProgram("test.elf", elf, isa);
  DramImage dram(program);
  return makeEngine("cycle", isa)->run(program, dram, {}).cycles;
}

} // namespace

TEST(Driver, DoubleBufferingIsFasterThanSingleAndThatThanNone) {
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
    EXPECT_EQ(error.location().file, options.model);
    EXPECT_EQ(error.fix(), "leave --quantize at int8, or stop at --emit tosa");
  }
}

TEST(Driver, IntegersAreNotQuantizedAgain) {
  CompileOptions options = optionsFor(convolution);
  options.quantizerOption = "--precision";
  EXPECT_EQ(compile(options).warnings,
            std::vector<std::string>{"--precision has no effect: the model is integer already"});
  options.quantizerOption = "";
  options.quantizerReport = "--quantization-report";
  EXPECT_EQ(compile(options).warnings,
            std::vector<std::string>{
                "--quantization-report has no effect: the model is integer already"});
}

// A model that says of all tensors how they are stored.
static const char *const storedSum =
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %q = tosa.clamp %x {min_val = -1.0 : f32, max_val = 1.0 : f32, tilewright.scale = 0.0078125 "
    ": f64, tilewright.zero_point = 0 : i64, tilewright.bits = 8 : i64} : (tensor<4xf32>) -> "
    "tensor<4xf32>\n"
    "  %s = tosa.add %q, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
    "  return %s : tensor<4xf32>\n}\n";

TEST(Driver, AModelThatIsQuantizedNeedsNoCalibration) {
  CompileOptions options = optionsFor(storedSum);
  EXPECT_EQ(compile(options).warnings, std::vector<std::string>{});
  options.quantizerOption = "--precision";
  EXPECT_EQ(compile(options).warnings,
            std::vector<std::string>{"--precision has no effect: the model is quantized already"});
}

TEST(Driver, AModelThatIsQuantizedHasAReportOfItsLayers) {
  CompileOptions options = optionsFor(storedSum);
  options.quantizerReport = "--quantization-report";
  options.quantization.layerReport = true;
  const CompileResult result = compile(options);
  EXPECT_EQ(result.warnings, std::vector<std::string>{});
  EXPECT_EQ(result.quantization.layers.size(), 2u);
}

TEST(Driver, SamplesAreForTheReportOfAModelThatIsQuantized) {
  CompileOptions options = optionsFor(storedSum);
  Tensor samples = makeTensor(DType::F32, {2, 4});
  std::fill_n(samples.data<float>(), samples.elements(), 0.5f);
  options.calibration = ::testing::TempDir() + "stored-sum";
  std::filesystem::create_directories(options.calibration);
  writeNpy(options.calibration + "/input_0.npy", samples);
  options.quantizerOption = "--calibration";
  EXPECT_EQ(
      compile(options).warnings,
      std::vector<std::string>{"--calibration has no effect: the model is quantized already"});
  options.quantizerReport = "--quantization-report";
  EXPECT_EQ(compile(options).warnings, std::vector<std::string>{});
}

// Printing a stage and going on from there gives the bytes that the whole pipeline gives.
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
  EXPECT_THAT(names,
              ::testing::ElementsAre("target", "import", "wide-decompose", "graph-fold",
                                     "graph-layout", "graph-decompose", "float-code", "calibration",
                                     "integers", "quantize", "integer-decompose", "tosa-to-kernel",
                                     "kernel-fuse", "schedule", "npu", "program", "release"));
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
  const int count = 96;
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

TEST(Driver, TellsWhatPrecisionCosts) {
  CompileOptions options = noisyNet();
  const CompileResult automatic = compile(options);
  ASSERT_TRUE(automatic.quantization.choice);
  ASSERT_EQ(automatic.quantization.choice->precision, Precision::Extended);
  ASSERT_TRUE(automatic.precisionCost);
  auto estimateOf = [&](Precision precision, bool fusion) {
    options.quantization.precision = precision;
    options.fusion = fusion;
    const Program program = readProgram("p.elf", compile(options).output, isa::load({}));
    int64_t cycles = 0;
    for (const LayerInfo &layer : program.layers)
      cycles += layer.estimateCycles;
    return static_cast<double>(cycles);
  };
  const auto standard = static_cast<double>(automatic.precisionCost->standardCycles);
  EXPECT_EQ(static_cast<double>(automatic.precisionCost->chosenCycles),
            estimateOf(Precision::Extended, true));
  // Set-up and end are counted, too.
  const double apart = estimateOf(Precision::Standard, false);
  EXPECT_NEAR(standard, apart, 0.02 * apart);
  EXPECT_GE(apart, estimateOf(Precision::Standard, true));
  EXPECT_GT(static_cast<double>(automatic.precisionCost->chosenCycles), standard);
}

TEST(Driver, TellsNoCostWhereNothingWasChosen) {
  CompileOptions options = noisyNet();
  options.quantization.precision = Precision::Extended;
  EXPECT_FALSE(compile(options).precisionCost);
  EXPECT_FALSE(compile(optionsFor(floatNet)).precisionCost);
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
  EXPECT_EQ(files, (std::vector<std::string>{
                       "00-import.mlir", "01-wide-decompose.mlir", "02-graph-fold.mlir",
                       "03-graph-layout.mlir", "04-graph-fold.mlir", "05-graph-decompose.mlir",
                       "06-quantize.mlir", "07-integer-decompose.mlir", "08-tosa-to-kernel.mlir",
                       "09-kernel-fuse.mlir", "10-npu.mlir", "11-program.s"}));
  const std::pair<const char *, Stage> stages[] = {{"00-import.mlir", Stage::Import},
                                                   {"05-graph-decompose.mlir", Stage::Import},
                                                   {"06-quantize.mlir", Stage::Tosa},
                                                   {"09-kernel-fuse.mlir", Stage::Kernel},
                                                   {"10-npu.mlir", Stage::Npu}};
  for (auto [file, stage] : stages) {
    SCOPED_TRACE(file);
    CompileOptions from;
    from.model = folder + file;
    from.from = stage;
    EXPECT_TRUE(compile(from).output == elf);
  }
}

// The border's 48 bits, whose halves stand in two planes, survive as well.
TEST(Driver, GoesOnFromHalvesOf48Bits) {
  CompileOptions options = optionsFor(
      "func.func @main(%x: tensor<2x3xi48>) -> (tensor<2x3xi48>, tensor<2x3xi8>) {\n"
      "  %m = \"tosa.const\"() <{values = dense<3> : tensor<1xi16>}> : () -> tensor<1xi16>\n"
      "  %s = \"tosa.const\"() <{values = dense<40> : tensor<1xi8>}> : () -> tensor<1xi8>\n"
      "  %z = \"tosa.const\"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>\n"
      "  %y = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>\n"
      "  %0 = tosa.rescale %x, %m, %s, %z, %y {input_unsigned = false, output_unsigned = false, "
      "per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = false} : (tensor<2x3xi48>, "
      "tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi8>) -> tensor<2x3xi8>\n"
      "  return %x, %0 : tensor<2x3xi48>, tensor<2x3xi8>\n}\n");
  const std::string elf = compile(options).output;
  const Program program = readProgram("p.elf", elf, isa::load({}));
  for (const TensorInfo &tensor : {program.inputs[0], program.outputs[0]}) {
    EXPECT_EQ(tensor.dtype, DType::I64);
    EXPECT_EQ(tensor.shape, (std::vector<int64_t>{2, 3}));
  }
  options.to = Stage::Tosa;
  CompileOptions from = optionsFor(compile(options).output);
  from.from = Stage::Tosa;
  EXPECT_EQ(compile(from).output, elf);
}

TEST(Driver, DumpsPhasesUpToTheStageAskedFor) {
  CompileOptions options = optionsFor(convolution);
  std::string last;
  options.phaseEnded = [&](const std::string &name, const std::string &) { last = name; };
  options.to = Stage::Kernel;
  compile(options);
  EXPECT_EQ(last, "08-kernel-fuse.mlir");
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
