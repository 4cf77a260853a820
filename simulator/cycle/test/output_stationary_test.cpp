// Rows MAT-BLOCK, MAT-CHUNK and MAT-LEAVE of docs/microarchitecture.md: output-stationary products,
// which the RTL has not.
#include "tilewright/simulator/timing/instruction_timing.h"
#include "tilewright/testing/harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

const isa::Isa &machine() { return target("edge16+output-stationary"); }
int64_t pipeline() { return machine().timing().at("matrix.pipeline"); }

const std::string next = "msum a=0x8000, w=0, d=0, n1=1, n0=1, n=16\n";

// After strides of dense rows of 64 activations, 16 weights and 16 accumulators; taps lie apart,
// too.
std::vector<InstructionRecord> runOutputStationary(const std::string &text, int depth = 16,
                                                   int taps1 = 1, int taps0 = 1,
                                                   const std::string &behind = next) {
  const std::string settings = fmt::format("matrix.set r0=a_s0, v0=64, r1=w_s0, v1=16\n"
                                           "matrix.set r0=d_s0, v0=16, r1=depth, v1={}\n"
                                           "matrix.set r0=taps1, v0={}, r1=taps0, v1={}\n"
                                           "matrix.set r0=a_k1, v0=64, r1=w_k1, v1=0\n",
                                           depth, taps1, taps0);
  return after(settings + pause, text + behind, {machine(), idealDram(machine()), {}});
}
// From the start of what enters at once to its first cycle.
constexpr int64_t toFirst = 1 + timing::enteredToRow;
// From that cycle to the first one of what follows. That enters when the streamer is free, in the
// cycle before; then the one behind it starts.
int64_t cyclesToTheNext(const std::vector<InstructionRecord> &entries) {
  return entries.at(2).start - entries.at(0).start - 2;
}
constexpr int64_t enter = 1;
int64_t cyclesTo(const std::vector<InstructionRecord> &entries) {
  return entries.at(0).end - entries.at(0).start - toFirst;
}
std::string pixels(int count) {
  return fmt::format("msum a=0x8000, w=0, d=0, n1=1, n0={}, n=16\n", count);
}

TEST(OutputStationary, MatBlockTakesACycleAProduct) {
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(16) + next, 48)), 48 + enter);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(1) + next, 48)), 48 + enter);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(32) + next, 48)), 2 * 48 + enter);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(33) + next, 48)), 3 * 48 + enter);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(16) + next, 16, 2, 3)), 6 * 16 + enter);
}

TEST(OutputStationary, MatChunkTakesACycleAPixelAtLeast) {
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(16) + next, 20)), 16 + 16 + enter);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(3) + next, 20)), 16 + 4 + enter);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(7) + next, 5, 3, 1)), 3 * 7 + enter);
}

TEST(OutputStationary, MatLeaveARowACycleAfterTheBlock) {
  for (int rows : {1, 5, 16})
    EXPECT_EQ(cyclesTo(runOutputStationary(pixels(rows), 32)), 31 + pipeline() + rows - 1);
  EXPECT_EQ(cyclesTo(runOutputStationary(pixels(18), 32)), 63 + pipeline() + 1);
}

TEST(OutputStationary, MatLeaveBehindTheBlockBefore) {
  // Two products a sum for 16 pixels, and then for two, whose sums leave when the others have.
  const auto entries = runOutputStationary(pixels(18) + next, 2);
  EXPECT_EQ(cyclesToTheNext(entries), 16 + 16 + enter);
  EXPECT_EQ(cyclesTo(entries), 31 + pipeline() + 1);
}

TEST(OutputStationary, MatLeaveBeforeOtherProductsWrite) {
  const std::string product = "mmul a=0x8000, d=0, n1=1, n0=4, k=16, n=16, accumulate=0, swap=0\n";
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(16) + product, 32)), 31 + 16);
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(pixels(1) + product, 32)), 32 + enter);
  // Their rows follow each other already.
  EXPECT_EQ(cyclesToTheNext(runOutputStationary(product + next, 32)), 4);
}

TEST(OutputStationary, MatBlockWithoutPixelsIsReadyInTheCycleAfterItEntered) {
  for (const char *counts : {"n1=0, n0=4, n=16", "n1=4, n0=0, n=16", "n1=4, n0=4, n=0"})
    EXPECT_EQ(cyclesTo(runOutputStationary(fmt::format("msum a=0x8000, w=0, d=0, {}\n", counts))),
              0)
        << counts;
}

TEST(OutputStationary, MatBlockWithoutProductsLeavesZeros) {
  const auto entries = runOutputStationary(pixels(16) + next, 0);
  EXPECT_EQ(cyclesTo(entries), pipeline() + 15);
  EXPECT_EQ(cyclesToTheNext(entries), 1 + enter);
}

TEST(OutputStationary, ActivationsAndWeightsOfOneBankTakeTurns) {
  auto both = [](int rows) {
    return runOutputStationary(
        fmt::format("msum a=0x4000, w=0, d=0, n1=1, n0={}, n=16\n", rows) + next, 32);
  };
  EXPECT_EQ(cyclesToTheNext(both(16)), 64 + enter);
  EXPECT_EQ(cyclesToTheNext(both(5)), 32 + 2 * 5 + enter);
}

TEST(OutputStationary, TheLoaderComesAfterWeightsThatStream) {
  const auto entries =
      runOutputStationary(pixels(16) + "mload w=0x4000, k=16, n=16\n", 32, 1, 1, "");
  EXPECT_EQ(entries.at(1).start, entries.at(0).start + 2);
  EXPECT_EQ(entries.at(1).end, entries.at(0).start + toFirst + 32 + 16);
}

} // namespace
} // namespace tilewright::cycle
