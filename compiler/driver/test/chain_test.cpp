// Chains of layers: the same integers as layer by layer, and what lies between stays on chip.
#include "tilewright/compiler/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Padding {
  int64_t rows = 0, columns = 0;
};

// A network of convolutions, written layer by layer. Weights repeat a short pattern.
class Network {
public:
  Network(int64_t height, int64_t width, int64_t channels)
      : height_(height), width_(width), channels_(channels), argument_(tensor(channels, "i8")) {}

  // `after`: rows and columns of padding behind the image, beyond those that keep its size.
  Network &conv(int64_t channels, int64_t kernel, int64_t stride, Padding after = {}) {
    const std::string weights = fmt::format("{}x{}x{}x{}xi8", channels, kernel, kernel, channels_);
    constant("w", weights, channels * kernel * kernel * channels_);
    constant("b", fmt::format("{}xi32", channels), channels);
    anchor("conv2d", weights, channels, kernel, stride, after);
    return *this;
  }
  Network &depthwise(int64_t kernel, int64_t stride) {
    const std::string weights = fmt::format("{}x{}x{}x1xi8", kernel, kernel, channels_);
    constant("w", weights, channels_ * kernel * kernel);
    constant("b", fmt::format("{}xi32", channels_), channels_);
    anchor("depthwise_conv2d", weights, channels_, kernel, stride);
    return *this;
  }
  Network &maxPool(int64_t kernel, int64_t stride) {
    const std::string before = tensor(channels_, "i8");
    shrink(kernel, stride, {});
    body_ += fmt::format("%v{} = tosa.max_pool2d %v{} {{kernel = array<i64: {}, {}>, pad = "
                         "array<i64: {}>, stride = array<i64: {}, {}>}} : ({}) -> {}\n",
                         value_ + 1, value_, kernel, kernel, pads(kernel, {}), stride, stride,
                         before, tensor(channels_, "i8"));
    ++value_;
    return *this;
  }
  // Adds the argument, whose shape the value must have.
  Network &addArgument() {
    const std::string type = tensor(channels_, "i8"), wide = tensor(channels_, "i32");
    for (const char *name : {"v", "x"})
      body_ += fmt::format(
          "%{0}w{1} = tosa.rescale %{2}, %one, %s30, %z, %z32 {{scale32 = true, rounding_mode = "
          "SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}} : "
          "({3}, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> {4}\n",
          name, value_, *name == 'v' ? fmt::format("v{}", value_) : "v0", type, wide);
    body_ += fmt::format("%sum{0} = tosa.add %vw{0}, %xw{0} : ({1}, {1}) -> {1}\n", value_, wide);
    narrow(fmt::format("%sum{}", value_), "%s31");
    return *this;
  }

  std::string text() const {
    return fmt::format(R"(func.func @main(%v0: {0}) -> {1} {{
  %z = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %z32 = "tosa.const"() {{values = dense<0> : tensor<1xi32>}} : () -> tensor<1xi32>
  %one = "tosa.const"() {{values = dense<1073741824> : tensor<1xi32>}} : () -> tensor<1xi32>
  %s30 = "tosa.const"() {{values = dense<30> : tensor<1xi8>}} : () -> tensor<1xi8>
  %s31 = "tosa.const"() {{values = dense<31> : tensor<1xi8>}} : () -> tensor<1xi8>
  %s36 = "tosa.const"() {{values = dense<36> : tensor<1xi8>}} : () -> tensor<1xi8>
{2}return %v{3} : {1}
}}
)",
                       argument_, tensor(channels_, "i8"), body_, value_);
  }

private:
  std::string tensor(int64_t channels, const char *element) const {
    return fmt::format("tensor<1x{}x{}x{}x{}>", height_, width_, channels, element);
  }
  static std::string pads(int64_t kernel, Padding after) {
    const int64_t before = kernel / 2, behind = (kernel - 1) / 2;
    return fmt::format("{}, {}, {}, {}", before, behind + after.rows, before,
                       behind + after.columns);
  }
  void shrink(int64_t kernel, int64_t stride, Padding after) {
    auto outputs = [&](int64_t inputs) { return (inputs - 1) / stride + 1; };
    height_ = outputs(height_ + after.rows), width_ = outputs(width_ + after.columns);
  }
  void constant(const char *name, const std::string &type, int64_t count) {
    std::string bytes;
    const bool wide = type.find("i32") != std::string::npos;
    for (int64_t i = 0; i < count; ++i, seed_ = seed_ * 1103515245 + 12345) {
      const auto value = static_cast<int8_t>(seed_ >> 16);
      bytes += fmt::format("{:02X}", static_cast<uint8_t>(value));
      for (int more = 0; wide && more < 3; ++more)
        bytes += value < 0 ? "FF" : "00";
    }
    body_ += fmt::format(
        "%{}{} = \"tosa.const\"() {{values = dense<\"0x{}\"> : tensor<{}>}} : () -> tensor<{}>\n",
        name, value_, bytes, type, type);
  }
  void anchor(const char *op, const std::string &weights, int64_t channels, int64_t kernel,
              int64_t stride, Padding after = {}) {
    const std::string before = tensor(channels_, "i8");
    shrink(kernel, stride, after);
    channels_ = channels;
    // TOSA wants the last tap of the last output on the last element: what is over is left off.
    body_ +=
        fmt::format("%a{0} = tosa.{1} %v{0}, %w{0}, %b{0}, %z, %z {{acc_type = i32, pad = "
                    "array<i64: {2}>, stride = array<i64: {3}, {3}>, dilation = array<i64: 1, "
                    "1>}} : ({4}, tensor<{5}>, tensor<{6}xi32>, tensor<1xi8>, tensor<1xi8>) -> "
                    "{7}\n",
                    value_, op, pads(kernel, after), stride, before, weights, channels,
                    tensor(channels_, "i32"));
    narrow(fmt::format("%a{}", value_), "%s36");
  }
  void narrow(const std::string &wide, const char *shift) {
    body_ +=
        fmt::format("%v{} = tosa.rescale {}, %one, {}, %z32, %z {{scale32 = true, rounding_mode = "
                    "SINGLE_ROUND, "
                    "per_channel = false, input_unsigned = false, output_unsigned = false}} : ({}, "
                    "tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> {}\n",
                    value_ + 1, wide, shift, tensor(channels_, "i32"), tensor(channels_, "i8"));
    ++value_;
  }

  int64_t height_, width_, channels_;
  std::string argument_, body_;
  int value_ = 0;
  uint32_t seed_ = 1;
};

struct Outcome {
  std::string output;
  int64_t cycles = 0, dramBytes = 0;
  std::string plan;
};

Outcome outcomeOf(const Network &network, const std::string &target, bool chains,
                  const char *engine) {
  CompileOptions options;
  options.target = target;
  options.chains = chains;
  std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(test.begin(), test.end(), '/', '_');
  options.model = ::testing::TempDir() + "/chain_test_" + test + ".mlir";
  std::ofstream(options.model) << network.text();
  const CompileResult compiled = compile(options);
  const isa::Isa isa = isa::load({target, {}, ""});
  const Program program = readProgram("test.elf", compiled.output, isa);
  DramImage dram(program);
  const TensorInfo &input = program.inputs[0], &output = program.outputs[0];
  auto bytesOf = [](const TensorInfo &tensor) {
    size_t bytes = 1;
    for (int64_t extent : tensor.shape)
      bytes *= static_cast<size_t>(extent);
    return bytes;
  };
  uint32_t seed = 7;
  for (size_t i = 0; i < bytesOf(input); ++i, seed = seed * 1103515245 + 12345)
    dram.data()[input.address + i] = static_cast<uint8_t>(seed >> 16);
  const RunRecord record = makeEngine(engine, isa)->run(program, dram, {});
  Outcome result;
  result.output.assign(reinterpret_cast<const char *>(dram.data()) + output.address,
                       bytesOf(output));
  result.cycles = record.cycles;
  for (const InstructionRecord &each : record.trace)
    result.dramBytes += each.dramReadBytes + each.dramWriteBytes;
  result.plan = compiled.plan;
  return result;
}

struct Case {
  const char *name;
  Network network;
  int layers; // of the chain on edge16
};

std::vector<Case> cases() {
  return {
      {"ExpandDepthwiseProject", Network(56, 56, 24).conv(96, 1, 1).depthwise(3, 1).conv(24, 1, 1),
       3},
      {"WithItsInputAdded",
       Network(28, 30, 32).conv(192, 1, 1).depthwise(3, 1).conv(32, 1, 1).addArgument(), 3},
      {"Stride2Of5Taps", Network(57, 41, 16).conv(72, 1, 1).depthwise(5, 2).conv(40, 1, 1), 3},
      {"WeightsThatDoNotFit", Network(14, 14, 160).conv(960, 1, 1).depthwise(3, 1).conv(160, 1, 1),
       3},
      {"FirstLayerAndPool", Network(97, 97, 3).conv(64, 7, 2).maxPool(3, 2), 2},
      {"DepthwisePointwise", Network(56, 56, 64).depthwise(3, 1).conv(128, 1, 1), 2},
      {"TwoConvolutions", Network(56, 56, 16).conv(16, 3, 1).conv(128, 1, 1), 2},
  };
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class OnMachines : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};
class OnEach : public ::testing::TestWithParam<const char *> {};
class OnEdge16 : public ::testing::TestWithParam<Case> {};

} // namespace

TEST_P(OnMachines, GivesWhatItsLayersGive) {
  const auto &[each, target] = GetParam();
  const Outcome apart = outcomeOf(each.network, target, false, "functional"),
                together = outcomeOf(each.network, target, true, "functional"),
                timed = outcomeOf(each.network, target, true, "cycle");
  EXPECT_THAT(apart.plan, Not(HasSubstr("chain of")));
  EXPECT_EQ(together.output, apart.output);
  EXPECT_EQ(timed.output, apart.output);
}

// Shapes that a chain has no place for, or only just.
TEST_P(OnEach, GivesWhatItsLayersGiveAtTheEdges) {
  const Network networks[] = {
      // A row of the result that sees nothing but padding.
      Network(14, 14, 8).conv(48, 1, 1).depthwise(3, 1).conv(16, 1, 1, {1, 0}),
      Network(6, 6, 8).conv(48, 1, 1).conv(16, 1, 1, {3, 2}),
      // A last part of the head's channels that is less than a block of parameters.
      Network(14, 5, 8).conv(70, 1, 1).maxPool(3, 1).conv(70, 1, 1),
  };
  for (const Network &network : networks)
    EXPECT_EQ(outcomeOf(network, GetParam(), true, "functional").output,
              outcomeOf(network, GetParam(), false, "functional").output)
        << network.text().substr(0, 80);
}

// Of a kernel of one tap the loads leave out what a stride passes over, but nothing beyond the
// image.
TEST(Strides, ColumnsOfPaddingAloneAreAlike) {
  constexpr size_t channels = 4, columns = 3;
  const std::string output =
      outcomeOf(Network(4, 4, 64).conv(channels, 1, 3, {0, 3}), "edge16", false, "functional")
          .output;
  ASSERT_EQ(output.size(), 2 * columns * channels);
  EXPECT_EQ(output.substr(2 * channels, channels), output.substr(5 * channels, channels));
}

// Whether a chain pays depends on the machine; on this one these do.
TEST_P(OnEdge16, MovesLessAndTakesLessTime) {
  const Case &each = GetParam();
  const Outcome apart = outcomeOf(each.network, "edge16", false, "cycle"),
                together = outcomeOf(each.network, "edge16", true, "cycle");
  EXPECT_THAT(together.plan, HasSubstr(fmt::format("chain of {} layers", each.layers)));
  EXPECT_LT(together.dramBytes, apart.dramBytes);
  EXPECT_LT(together.cycles, apart.cycles);
}

INSTANTIATE_TEST_SUITE_P(Chain, OnMachines,
                         ::testing::Combine(::testing::ValuesIn(cases()),
                                            ::testing::Values("edge16", "odd12x20", "wide32x8")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "On" +
                                  std::get<1>(info.param);
                         });
INSTANTIATE_TEST_SUITE_P(Chain, OnEach, ::testing::Values("edge16", "odd12x20", "tiny4"));
INSTANTIATE_TEST_SUITE_P(Chain, OnEdge16, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace tilewright
