// Every phrase of a plan stands in docs/plan-terms.md.
#include "network.h"
#include "tilewright/compiler/driver/driver.h"
#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/fused_stack_plan.h"
#include "tilewright/testing/plan_terms.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace tilewright {

namespace {

bool isExplained(const std::string &plan) {
  static const std::regex phrases = test::planTerms("Plans", "(?:, |; |: | )");
  return std::regex_match(plan, phrases);
}

void expectExplained(const std::string &text, Buffering buffering = Buffering::Double) {
  CompileOptions options;
  options.model = ::testing::TempDir() + "/terms_test.mlir";
  options.buffering = buffering;
  std::ofstream(options.model) << text;
  std::istringstream lines(compile(options).plan);
  for (std::string line; std::getline(lines, line);) {
    const bool isRunnerUp = line.rfind("  ", 0) == 0;
    const size_t begin = isRunnerUp ? 2 : line.find("): ") + 3; // behind "name (op): "
    EXPECT_TRUE(isExplained(line.substr(begin))) << line;
  }
}

TEST(Terms, ARegionOfNoPhraseIsNotExplained) {
  EXPECT_TRUE(isExplained("7 steps"));
  EXPECT_FALSE(isExplained("7 leaps"));
  EXPECT_FALSE(isExplained("7 steps, somehow"));
}

TEST(Terms, OfConvolutionsAreExplained) {
  ConvProblem problem{1, 28, 28, 64, 28, 28, 64, 3, 3, 1, 1, 1, 1, 1, 1};
  ConvPlan plan{};
  plan.stepHeight = plan.stepWidth = plan.stepChannels = 14;
  plan.tileHeight = plan.tileWidth = plan.tileChannels = 7;
  plan.inputLoads = plan.weightLoads = 2;
  for (TapMerge merge : {TapMerge::None, TapMerge::Columns, TapMerge::All})
    for (int flags = 0; flags < 64; ++flags) {
      plan.merge = merge;
      plan.residentSteps = flags & 1 ? 1 + flags % 3 : 0;
      plan.turns = flags & 2;
      plan.firstHeight = flags & 4 ? 3 : 0;
      plan.inputDoubled = plan.weightsDoubled = flags & 8;
      plan.inputLoads = plan.weightLoads = flags & 16 ? 1 : 2;
      plan.stands = flags & 32 ? Stands::Sums : Stands::Weights;
      plan.depthParts = 1 + flags % 3;
      plan.firstTiles = 1 + flags % 2;
      plan.tilesTogether = flags % 5;
      EXPECT_TRUE(isExplained(describe(problem, plan))) << describe(problem, plan);
    }
  plan.streamFolds = 4;
  EXPECT_TRUE(isExplained(describe(problem, plan))) << describe(problem, plan);
}

TEST(Terms, OfFusedStacksAreExplained) {
  FusedStackProblem problem;
  problem.head = problem.tail = ConvProblem{1, 28, 28, 64, 28, 28, 64, 1, 1, 1, 1, 1, 1, 0, 0};
  FusedStackPlan plan{};
  plan.tileRows = 4;
  plan.chunkChannels = 16;
  for (int flags = 0; flags < 32; ++flags) {
    plan.firstRows = flags & 1 ? 2 : 0;
    plan.cachedTiles = flags & 2 ? 6 : 1;
    plan.tailComesLast = flags & 16;
    plan.arrayUnits = flags & 4 ? 6 : 0;
    plan.keepsWeights = flags & 8;
    EXPECT_TRUE(isExplained(describe(problem, plan))) << describe(problem, plan);
  }
}

TEST(Terms, OfWholeNetworksAreExplained) {
  expectExplained(
      Network(28, 28, 16).conv(64, 1, 1).depthwise(3, 1).conv(16, 1, 1).addArgument().text());
  expectExplained(Network(28, 28, 16)
                      .conv(32, 3, 1)
                      .from(0)
                      .conv(32, 1, 1)
                      .concat({1, 2})
                      .maxPool(3, 1)
                      .text());
  for (const char *where :
       {"part of a (Conv)", "absorbed by a (Conv), b (Add)", "no output depends on it",
        "a constant that the compiler computed", "nothing is left to compute"})
    EXPECT_TRUE(isExplained(std::string("not by itself: ") + where)) << where;
  expectExplained(Network(28, 28, 16).sumOfImage().conv(32, 1, 1).text());
  expectExplained(Network(1, 1, 1280).conv(1000, 1, 1).text());
  expectExplained(Network(28, 28, 16).conv(64, 1, 1).depthwise(3, 1).text(), Buffering::None);
}

} // namespace

} // namespace tilewright
