// Whatever plan a tuner chooses, the program computes the same integers and passes its checks.
#include "network.h"

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/frontend/parse_module.h"
#include "tilewright/compiler/schedule/conv_bound.h"
#include "tilewright/compiler/schedule/conv_space.h"
#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/fused_stack_space.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/select.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/runtime/session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace tilewright {

namespace {

// A plan drawn at random for every kernel.
class Chance : public Tuner {
public:
  // Of the plans of which `isWanted` is true.
  Chance(uint64_t seed, const isa::Isa &isa, bool (*isWanted)(const PlanPoint &) = nullptr)
      : random_(seed), isa_(isa), isWanted_(isWanted) {}
  std::optional<PlanPoint> choose(const TunableKernel &kernel) override {
    for (int draw = 0; draw < 20; ++draw) {
      std::optional<PlanPoint> point = randomPoint(kernel.space, random_);
      for (int more = 0; isWanted_ && !(point && isWanted_(*point)) && more < 20'000; ++more)
        point = randomPoint(kernel.space, random_);
      if (isWanted_ && point && !isWanted_(*point))
        return std::nullopt;
      const std::optional<PlanAlone> alone = point ? kernel.emit(*point) : std::nullopt;
      if (alone) {
        checkBound(kernel.space, *point, *alone);
        drawn.insert(*point);
        return point;
      }
    }
    return std::nullopt;
  }
  std::set<PlanPoint> drawn;

private:
  // A plan takes no fewer cycles than its bound says.
  void checkBound(const PlanSpace &space, const PlanPoint &point, const PlanAlone &alone) const {
    static_assert(size_t(ConvSpace::DimensionCount) != size_t(FusedStackSpace::DimensionCount));
    if (space.dimensions() != ConvSpace::DimensionCount)
      return;
    const auto &convolution = static_cast<const ConvSpace &>(space);
    const ConvPlan plan = convolution.plan(point);
    const int64_t least = leastCycles(convolution.problem(), ConvMachine::of(isa_), plan);
    EXPECT_LE(least,
              estimateCycles(alone.stream, isa_, timing::makeTimings(isa_), alone.codeAddress));
    EXPECT_EQ(least > 0, plan.streamFolds == 0); // streams have no bound
  }

  Random random_;
  const isa::Isa &isa_;
  bool (*isWanted_)(const PlanPoint &);
};

struct Layer {
  int64_t height, width, channels, filters, kernel, stride, pad, dilation;
  bool isPlanar = false; // the argument is NCHW
  bool isRescaled = true;
  bool isAdded = false; // to an argument of 32 bits
};

std::string textOf(const Layer &c) {
  auto outputs = [&](int64_t size) {
    return (size + 2 * c.pad - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
  };
  const std::string x = fmt::format("tensor<1x{}x{}x{}xi8>", c.height, c.width, c.channels),
                    w = fmt::format("tensor<{0}x{1}x{1}x{2}xi8>", c.filters, c.kernel, c.channels),
                    b = fmt::format("tensor<{}xi32>", c.filters);
  const std::string shape =
      fmt::format("1x{}x{}x{}", outputs(c.height), outputs(c.width), c.filters);
  std::string weights;
  for (int64_t i = 0; i < c.filters * c.kernel * c.kernel * c.channels; ++i)
    weights += fmt::format("{:02X}", i * 37 % 251);
  auto constant = [](const char *name, const std::string &values, const std::string &type) {
    return fmt::format("  %{0} = \"tosa.const\"() {{values = dense<{1}> : {2}}} : () -> {2}\n",
                       name, values, type);
  };
  const std::string planes = fmt::format("tensor<1x{}x{}x{}xi8>", c.channels, c.height, c.width);
  const std::string transpose = fmt::format(
      "  %x = tosa.transpose %p {{perms = array<i32: 0, 2, 3, 1>}} : ({}) -> {}\n", planes, x);
  const std::string addend = fmt::format(", %a: tensor<{}xi32>", shape);
  return fmt::format("func.func @main({}: {}{}) -> tensor<{}xi{}> {{\n{}", c.isPlanar ? "%p" : "%x",
                     c.isPlanar ? planes : x, c.isAdded ? addend : "", shape, c.isRescaled ? 8 : 32,
                     c.isPlanar ? transpose : "") +
         constant("w", fmt::format("\"0x{}\"", weights), w) + constant("b", "5", b) +
         constant("z", "0", "tensor<1xi8>") + constant("xz", "3", "tensor<1xi8>") +
         constant("z32", "0", "tensor<1xi32>") + constant("m", "1073741824", "tensor<1xi32>") +
         constant("s", "40", "tensor<1xi8>") +
         fmt::format(
             "  %{7} = tosa.conv2d %x, %w, %b, %xz, %z {{acc_type = i32, pad = array<i64: {0}, "
             "{0}, "
             "{0}, {0}>, stride = array<i64: {1}, {1}>, dilation = array<i64: {2}, {2}>}} : ({3}, "
             "{4}, {5}, tensor<1xi8>, tensor<1xi8>) -> tensor<{6}xi32>\n",
             c.pad, c.stride, c.dilation, x, w, b, shape, c.isAdded ? "c" : "y") +
         (c.isAdded ? fmt::format("  %y = tosa.add %c, %a : (tensor<{0}xi32>, tensor<{0}xi32>) -> "
                                  "tensor<{0}xi32>\n",
                                  shape)
                    : "") +
         (c.isRescaled
              ? fmt::format(
                    "  %r = tosa.rescale %y, %m, %s, %z32, %z {{scale32 = true, rounding_mode = "
                    "SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = "
                    "false}} "
                    ": (tensor<{0}xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) "
                    "-> "
                    "tensor<{0}xi8>\n  return %r : tensor<{0}xi8>\n}}\n",
                    shape)
              : fmt::format("  return %y : tensor<{}xi32>\n}}\n", shape));
}

// A network's text, for two images at once.
std::string ofTwo(const Network &network) {
  return std::regex_replace(network.text(), std::regex("tensor<1x(\\d+x\\d+x\\d+xi)"),
                            "tensor<2x$1");
}

struct Case {
  const char *name;
  std::string text;
};

// To draw, of each case on each target. The sanitizers look at memory, of which few plans use all
// there is, and take thirty times as long.
#if __has_feature(address_sanitizer)
constexpr uint64_t plans = 4;
#else
constexpr uint64_t plans = 25;
#endif

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class PlanValues : public ::testing::TestWithParam<Case> {};

// That what the case computes is the same under so many plans drawn as without fusion.
void expectSameValues(const Case &tried, uint64_t plans,
                      bool (*isWanted)(const PlanPoint &) = nullptr) {
  CompileOptions options;
  options.model = ::testing::TempDir() + "/plan_values_" + tried.name + ".mlir";
  options.quantize = "none";
  options.to = Stage::Kernel;
  std::ofstream(options.model) << tried.text;
  const std::string kernels = compile(options).output;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect,
                      npu::NpuDialect>();
  for (const char *target : {"edge16", "odd12x20"}) {
    const isa::LoadOptions load{target, {}, ""};
    const isa::Isa isa = isa::load(load);
    auto outputsUnder = [&](bool fusion, Tuner *tuner) {
      auto module = parseModule("kernels.mlir", kernels, context, checkKernels);
      const NpuProgram made =
          kernelToNpu(*module, isa, load, {Buffering::Double, fusion, tuner}); // checks the stream
      Session session(made.program);
      session.fillInputs(1);
      return session.run(*makeEngine("functional", isa), {}, true).outputs.begin()->second.bytes;
    };
    const auto expected = outputsUnder(false, nullptr);
    std::set<PlanPoint> drawn;
    for (uint64_t seed = 1; seed <= plans; ++seed) {
      Chance chance(seed, isa, isWanted);
      EXPECT_TRUE(outputsUnder(true, &chance) == expected)
          << target << ", seed " << seed << ": "
          << ::testing::PrintToString(chance.drawn); // by dimension
      drawn.merge(chance.drawn);
    }
    EXPECT_GT(2 * drawn.size(), plans);
  }
}

} // namespace

TEST_P(PlanValues, AreTheSameUnderAllPlans) { expectSameValues(GetParam(), plans); }

// Each of these tiles reads its own part of the addend. Few plans of all have any.
TEST(PlanValuesOfTiles, AreTheSameWhereFirstTilesTakeTurns) {
  expectSameValues({"by_turns", textOf({4, 3, 192, 96, 1, 1, 0, 1, false, true, true})}, 3,
                   [](const PlanPoint &point) { return point[ConvSpace::FirstTiles] > 1; });
}

INSTANTIATE_TEST_SUITE_P(
    Layers, PlanValues,
    ::testing::Values(Case{"plain", textOf({12, 10, 32, 48, 1, 1, 0, 1})},
                      Case{"padded", textOf({13, 17, 24, 40, 3, 1, 1, 1})},
                      Case{"sums", textOf({12, 10, 64, 90, 1, 1, 0, 1, false, false})},
                      Case{"added", textOf({12, 10, 64, 90, 1, 1, 0, 1, false, true, true})},
                      Case{"few_pixels", textOf({1, 2, 128, 70, 1, 1, 0, 1})},
                      Case{"strided", textOf({15, 15, 40, 33, 3, 2, 1, 1})},
                      Case{"few_channels", textOf({19, 19, 3, 24, 5, 2, 2, 1})},
                      Case{"few_planes", textOf({19, 23, 3, 24, 5, 2, 2, 1, true})},
                      Case{"planes_of_wide_padding", textOf({9, 6, 2, 20, 4, 1, 5, 1, true})},
                      Case{"dilated", textOf({14, 14, 16, 16, 3, 1, 2, 2})},
                      Case{"pixel", textOf({1, 1, 300, 100, 1, 1, 0, 1})}),
    [](const auto &info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    FusedStacks, PlanValues,
    ::testing::Values(
        Case{"block", Network(28, 30, 32)
                          .conv(192, 1, 1)
                          .depthwise(3, 1)
                          .conv(32, 1, 1)
                          .addArgument()
                          .text()},
        Case{"stride_2", Network(57, 41, 16).conv(72, 1, 1).depthwise(5, 2).conv(40, 1, 1).text()},
        Case{"first_layer_and_pool", Network(97, 97, 3).conv(64, 7, 2).maxPool(3, 2).text()},
        Case{"wide_windows",
             Network(28, 28, 24).conv(96, 1, 1).depthwise(3, 1, true).conv(24, 1, 1).text()},
        Case{"head_added",
             Network(28, 28, 16).conv(48, 1, 1).depthwise(3, 1).conv(48, 1, 1).add(1).text()},
        Case{"depthwise_first", Network(56, 56, 64).depthwise(3, 1).conv(128, 1, 1).text()},
        Case{"two_convolutions", Network(56, 56, 16).conv(24, 3, 1).conv(128, 1, 1).text()},
        Case{"sum", Network(14, 14, 24)
                        .conv(168, 1, 1)
                        .depthwise(3, 1)
                        .sumOfImage()
                        .conv(168, 1, 1)
                        .scale(2, 4)
                        .text()},
        Case{"sums_of_two_images",
             ofTwo(Network(19, 23, 24).conv(72, 1, 1).depthwise(5, 2).sumOfImage())},
        Case{"run_of_fused_stacks", Network(14, 14, 256)
                                        .conv(256, 1, 1)
                                        .depthwise(3, 1)
                                        .conv(256, 1, 1)
                                        .depthwise(3, 1)
                                        .text()}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace tilewright
