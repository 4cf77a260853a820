// ctest -R 'InstructionTiming|ColumnBroadcastWalk': what is derived of instructions, and windows
// against all of their sums one by one.
#include "execution.h"

#include <gtest/gtest.h>
#include <random>

namespace tilewright::timing {
namespace {

using test::Execution;
using test::Values;

TEST(InstructionTiming, WalksWhereTheIndexSays) {
  const Execution execution(test::machine(), "mmul",
                            {{"a", 512},
                             {"d", 33},
                             {"n1", 3},
                             {"n0", 4},
                             {"k", 5},
                             {"n", 6},
                             {"a_s1", 70},
                             {"a_s0", -8},
                             {"d_s1", 64},
                             {"d_s0", 16}});
  const StepTiming &step = execution.timing().steps.at(0);
  const isa::Isa &isa = test::machine();
  const Walk a =
      walk(step.reads[0], isa.memory(isa::Space::Spad), execution.context(), execution.addresses());
  const Walk d =
      walk(step.write, isa.memory(isa::Space::Acc), execution.context(), execution.addresses());
  // Iterators y, x, j; i. An accumulator has 4 bytes.
  EXPECT_EQ(a.address, 512);
  EXPECT_EQ((std::vector<int64_t>{a.stride.begin(), a.stride.begin() + 4}),
            (std::vector<int64_t>{70, -8, 0, 1}));
  EXPECT_EQ(d.address, 4 * 33);
  EXPECT_EQ((std::vector<int64_t>{d.stride.begin(), d.stride.begin() + 4}),
            (std::vector<int64_t>{4 * 64, 4 * 16, 4, 0}));
}

TEST(InstructionTiming, HasExtentsOfSpatialIteratorsFirst) {
  const Execution execution(test::machine(), "mmul", {{"n1", 3}, {"n0", 4}, {"k", 5}, {"n", 6}});
  const StepTiming &step = execution.timing().steps.at(0);
  std::vector<int64_t> extents;
  for (const Scalar &extent : step.extents)
    extents.push_back(extent(execution.context()));
  EXPECT_EQ(extents, (std::vector<int64_t>{3, 4, 6, 5}));
  EXPECT_EQ(step.spatial, 3);
}

TEST(InstructionTiming, TellsWhatAMatrixInstructionIs) {
  const InstructionTiming product = Execution(test::machine(), "mmul", {}).timing(),
                          load = Execution(test::machine(), "mload", {}).timing(),
                          window = Execution(test::machine("depthwise"), "mdw", {}).timing(),
                          stationary =
                              Execution(test::machine("output-stationary"), "msum", {}).timing();
  EXPECT_TRUE(product.isContraction);
  EXPECT_FALSE(product.window || product.isStationary);
  EXPECT_FALSE(load.isContraction || load.window || load.isStationary);
  EXPECT_TRUE(window.isContraction && window.window);
  EXPECT_FALSE(window.isStationary);
  EXPECT_TRUE(stationary.isContraction && stationary.isStationary);
  EXPECT_FALSE(stationary.window);
}

TEST(InstructionTiming, ReadsInitialSumsOnce) {
  const InstructionTiming product = Execution(test::machine(), "mmul", {}).timing();
  ASSERT_EQ(product.steps.at(0).reads.size(), 2u);
  EXPECT_FALSE(product.steps[0].reads[0].once);
  EXPECT_TRUE(product.steps[0].reads[1].once);
  EXPECT_EQ(product.steps[0].reads[1].space, isa::Space::Acc);
}

TEST(InstructionTiming, HasTheLatencyOfItsPipelineOrTheOneAskedFor) {
  const isa::Isa &usual = test::machine(), &slow = test::machine("slow-rescale");
  EXPECT_EQ(Execution(usual, "vrescale", {}).timing().latency,
            usual.find("vrescale")->pipeline.least);
  EXPECT_EQ(Execution(slow, "vrescale", {}).timing().latency, 16);
}

TEST(ColumnBroadcastWalk, HasTheCyclesOfAllItsSums) {
  std::mt19937 random(3);
  auto from = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int round = 0; round < 500; ++round) {
    const int64_t n1 = from(0, 4), n0 = from(0, 4), k1 = from(1, 3), k0 = from(1, 3),
                  t1 = from(1, 3), t0 = from(1, 3),
                  p = std::max<int64_t>((n0 - 1) * t0 + k0, k0) + from(0, 2);
    const Execution execution(test::machine("depthwise"), "mdw",
                              {{"n1", n1},
                               {"n0", n0},
                               {"n", 4},
                               {"k1", k1},
                               {"k0", k0},
                               {"t1", t1},
                               {"t0", t0},
                               {"p", p}});
    const ColumnBroadcastWalk window(*execution.timing().window, execution.context());
    // A sum begins when its first activation is read; its last one ends the walk.
    int64_t sums = 0, last = -1, lastBegin = -1;
    for (int64_t y = 0; y < n1; ++y)
      for (int64_t x = 0; x < n0; ++x, ++sums) {
        EXPECT_TRUE(window.begins(y * t1, x * t0));
        lastBegin = std::max(lastBegin, y * t1 * p + x * t0);
        last = std::max(last, (y * t1 + k1 - 1) * p + x * t0 + k0 - 1);
      }
    EXPECT_EQ(window.cycles(), last + 1);
    if (sums == 0) {
      EXPECT_EQ(window.reads(), 0);
      continue;
    }
    EXPECT_EQ(window.trailing, last - lastBegin);
    int64_t begun = 0;
    for (int64_t sweep = 0; sweep < window.sweeps; ++sweep)
      for (int64_t at = 0; at < window.span; ++at)
        begun += window.begins(sweep, at);
    EXPECT_EQ(begun, sums);
    EXPECT_EQ(window.reads(), ((n1 - 1) * t1 + k1) * ((n0 - 1) * t0 + k0));
  }
}

} // namespace
} // namespace tilewright::timing
