// Rows MAT-* of docs/microarchitecture.md, and the closed form of folds.
#include "tilewright/simulator/timing/instruction_timing.h"
#include "tilewright/testing/harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

int64_t pipeline(const isa::Isa &isa = target("edge16")) {
  return isa.timing().at("matrix.pipeline");
}

// From the start of what enters at once to its first row.
constexpr int64_t toRow = 1 + timing::enteredToRow;

// Strides of dense rows: 16 bytes of weights and activations, 16 accumulators. The fill lasts until
// all lines have come.
const std::string strides = R"(
    fill d=0x3f000, value=0, n1=1, n0=2048
    matrix.set r0=a_s0, v0=16, r1=w_s0, v1=16
    matrix.set r0=d_s0, v0=16, r1=a_s1, v1=0
    fence
)";
constexpr size_t first = 4; // the first instruction after `strides`

RunRecord runMatrix(const std::string &text, const RunSetup &setup = {}) {
  return run(strides + text + "\nhalt", setup);
}

TEST(Matrix, MatSetTakesOneCycle) {
  const RunRecord record = runMatrix("");
  EXPECT_EQ(record.trace[1].end, record.trace[1].start);
  EXPECT_EQ(record.trace[2].start, record.trace[1].end + 1);
}

TEST(Matrix, MatLoadEndsInTheCycleAfterItsLastRow) {
  for (int k : {1, 7, 16}) {
    const RunRecord record = runMatrix(fmt::format("mload w=0, k={}, n=16", k));
    EXPECT_EQ(record.trace[first].end, record.trace[first].start + toRow + k);
  }
}

TEST(Matrix, MatLoadOfNoRowsTakesOneCycle) {
  const RunRecord record = runMatrix("mload w=0, k=0, n=16");
  EXPECT_EQ(record.trace[first].end, record.trace[first].start + toRow + 1);
}

TEST(Matrix, MatEnterWithSwapFollowsTheLastRowOfTheLoad) {
  const RunRecord record = runMatrix(
      "mload w=0, k=16, n=16\nmmul a=0x8000, d=0, n1=1, n0=5, k=16, n=16, accumulate=0, swap=1");
  EXPECT_EQ(record.trace[first + 1].end, record.trace[first].end + 5 + pipeline());
}

TEST(Matrix, MatEnterWithoutSwapWaitsForNoLoad) {
  const RunRecord record = runMatrix(
      "mload w=0, k=16, n=16\nmmul a=0x8000, d=0, n1=1, n0=5, k=16, n=16, accumulate=0, swap=0");
  EXPECT_EQ(record.trace[first + 1].start, record.trace[first].start + 2);
  EXPECT_EQ(record.trace[first + 1].end, record.trace[first + 1].start + toRow + 4 + pipeline());
}

TEST(Matrix, MatEndIsThePipelineAfterTheLastRow) {
  for (int rows : {1, 2, 50}) {
    const RunRecord record = runMatrix(
        fmt::format("mmul a=0x8000, d=0, n1=1, n0={}, k=16, n=16, accumulate=0, swap=0", rows));
    EXPECT_EQ(record.trace[first].end, record.trace[first].start + toRow + rows - 1 + pipeline());
  }
}

TEST(Matrix, MatRowsFollowWithoutABubble) {
  const RunRecord record =
      runMatrix(R"(mmul a=0x8000, d=0, n1=1, n0=21, k=16, n=16, accumulate=0, swap=0
    mmul a=0x8000, d=0, n1=1, n0=9, k=16, n=16, accumulate=1, swap=0
    mmul a=0x8000, d=0, n1=1, n0=1, k=16, n=16, accumulate=1, swap=0)");
  EXPECT_EQ(record.trace[first + 1].end, record.trace[first].end + 9);
  EXPECT_EQ(record.trace[first + 2].end, record.trace[first + 1].end + 1);
}

TEST(Matrix, MatStartWaitsUntilTheOneBeforeHasEntered) {
  const RunRecord record =
      runMatrix(R"(mmul a=0x8000, d=0, n1=1, n0=40, k=16, n=16, accumulate=0, swap=0
    mload w=0, k=16, n=16)");
  EXPECT_EQ(record.trace[first + 1].start, record.trace[first].start + 2);
}

TEST(Matrix, MatHeadMayWaitWhileThePipelineDrains) {
  const RunRecord record = runMatrix("mload w=0, k=16, n=16\n"
                                     "mmul a=0, d=0, n1=1, n0=4, k=16, n=16, accumulate=0, swap=1 "
                                     "!signal=0\n"
                                     "mmul a=0, d=0, n1=1, n0=4, k=16, n=16, accumulate=0, swap=0 "
                                     "!wait=1\n"
                                     "vchannel a=0, nc=16 !wait=0 !signal=1");
  EXPECT_EQ(record.trace[first + 3].start, record.trace[first + 1].end + 1);
  EXPECT_EQ(record.trace[first + 2].start, record.trace[first + 3].end + 1);
}

TEST(Matrix, MatEnterHasCreditsForEightInFlight) {
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += "mmul a=0x8000, d=0, n1=1, n0=1, k=16, n=16, accumulate=0, swap=0\n";
  const RunRecord record = run(strides + text + "halt");
  EXPECT_LT(record.trace[first + 7].start, record.trace[first].end);
  EXPECT_EQ(record.trace[first + 8].end, record.trace[first].end + 1 + 1 + pipeline());
}

TEST(Matrix, MatWithoutRowsIsReadyInTheCycleAfterItEntered) {
  for (const char *text : {"mmul a=0x8000, d=0, n1=0, n0=5, k=16, n=16, accumulate=0, swap=0",
                           "mmul a=0x8000, d=0, n1=1, n0=5, k=16, n=0, accumulate=0, swap=0"}) {
    const RunRecord record = runMatrix(text);
    EXPECT_EQ(record.trace[first].end, record.trace[first].start + 2) << text;
  }
}

// Of a machine whose columns get activations of their own.
RunRecord runWindow(const std::string &text) {
  const isa::Isa &isa = target("edge16+depthwise");
  return runMatrix("matrix.set r0=d_s1, v0=1024, r1=a_s1, v1=0\n" + text,
                   {isa, idealDram(isa), {}});
}
constexpr size_t window = first + 1; // the first instruction after that

TEST(Matrix, MatSweepReadsItsRows) {
  // 5 + 2 sweeps of 6 cycles; (5 - 1) * 2 + 2 of 8 cycles, the last one of which ends with its
  // fourth row.
  const RunRecord record = runWindow(
      "mdw a=0x8000, d=0, n1=5, n0=4, n=16, k1=3, k0=3, t1=1, t0=1, p=6, accumulate=0, swap=0\n"
      "mdw a=0x8000, d=0, n1=5, n0=2, n=16, k1=2, k0=3, t1=2, t0=1, p=8, accumulate=0, swap=0\n"
      "mmul a=0x8000, d=0, n1=1, n0=1, k=16, n=16, accumulate=0, swap=0");
  const int64_t second = record.trace[window].start + toRow + 7 * 6, third = second + 9 * 8 + 4;
  EXPECT_EQ(record.trace[window + 1].end, second + 8 * 8 + 1 + pipeline());
  EXPECT_EQ(record.trace[window + 2].end, third + pipeline());
}

TEST(Matrix, MatSumEndsThePipelineAfterTheLastOneBegan) {
  const RunRecord record = runWindow(
      "mdw a=0x8000, d=0, n1=5, n0=4, n=16, k1=3, k0=3, t1=1, t0=1, p=6, accumulate=0, swap=0\n"
      "mdw a=0x8000, d=0, n1=2, n0=3, n=16, k1=1, k0=3, t1=3, t0=2, p=9, accumulate=0, swap=0");
  const int64_t row = record.trace[window].start + toRow;
  EXPECT_EQ(record.trace[window].end, row + 4 * 6 + 3 + pipeline());
  EXPECT_EQ(record.trace[window + 1].end, row + 7 * 6 + 3 * 9 + 4 + pipeline());
}

TEST(Matrix, MatSweepOfNoOutputsIsReadyInTheCycleAfterItEntered) {
  for (const char *counts : {"n1=0, n0=4, n=16", "n1=4, n0=0, n=16", "n1=4, n0=4, n=0"}) {
    const RunRecord record = runWindow(fmt::format(
        "mdw a=0x8000, d=0, {}, k1=3, k0=3, t1=1, t0=1, p=6, accumulate=0, swap=0", counts));
    EXPECT_EQ(record.trace[window].end, record.trace[window].start + 2) << counts;
  }
}

TEST(Matrix, MatSweepLeavesThePortWhereItReadsNothing) {
  // Weights in the bank of the activations: they come in while a sweep of 3 + 7 cycles reads
  // nothing.
  const RunRecord record = runWindow(
      "mdw a=0x4000, d=0, n1=4, n0=1, n=16, k1=1, k0=3, t1=1, t0=1, p=10, accumulate=0, swap=0\n"
      "mload w=0, k=16, n=16");
  EXPECT_EQ(record.trace[window + 1].start, record.trace[window].start + 2);
  // A read of the first sweep left, 7 rows, 3 reads, 7 rows, 3 reads, 2 rows.
  EXPECT_EQ(record.trace[window + 1].end,
            record.trace[window + 1].start + toRow + 1 + 7 + 3 + 7 + 3 + 2);
}

TEST(Matrix, MatActivationsComeBeforeWeightsOfTheSameBank) {
  const std::string mmul = "mmul a=0x4000, d=0, n1=1, n0=40, k=16, n=16, accumulate=0, swap=0\n";
  const RunRecord apart = runMatrix(mmul + "mload w=0x8000, k=16, n=16");
  EXPECT_EQ(apart.trace[first + 1].end, apart.trace[first + 1].start + toRow + 16);
  const RunRecord together = runMatrix(mmul + "mload w=0, k=16, n=16");
  EXPECT_EQ(together.trace[first + 1].start, together.trace[first].start + 2);
  EXPECT_EQ(together.trace[first + 1].end, together.trace[first].start + toRow + 40 + 16);
  EXPECT_EQ(together.trace[first].end, apart.trace[first].end);
  const auto matrix = static_cast<size_t>(target("edge16").findUnit("matrix")->index);
  EXPECT_EQ(together.bankConflicts[matrix][matrix], 38);
}

TEST(Matrix, MatRowAcrossABankBoundaryNeedsBothBanks) {
  // Activations in bank 0 but for the last row, which reaches 8 bytes into bank 1; weights in
  // bank 1.
  const RunRecord record =
      runMatrix(R"(mmul a=0x7fb8, d=0, n1=1, n0=5, k=16, n=16, accumulate=0, swap=0
    mload w=0x9000, k=16, n=16)");
  EXPECT_EQ(record.trace[first + 1].end, record.trace[first + 1].start + toRow + 16 + 1);
}

TEST(Matrix, MatAccumulateReadsTwoCyclesBeforeItWrites) {
  // The vector unit reads the same bank: a strip that reads before the array's first read is not
  // delayed, the next one waits until the array's last read is over, which is two cycles before its
  // last write.
  const auto run = [](int accumulate, int64_t strips) {
    return runMatrix(fmt::format("vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                                 "mmul a=0x8000, d=0, n1=1, n0=100, k=16, n=16, accumulate={}, "
                                 "swap=0\nvrescale a=0, d=0x10000, n0={}, nc=16",
                                 accumulate, strips));
  };
  const auto &timing = target("edge16").timing();
  const int64_t latency = target("edge16").find("vrescale")->pipeline.latency;
  const RunRecord probe = run(1, 1);
  const int64_t firstRead = probe.trace[first + 2].start + timing.at("vector.start");
  const int64_t free = probe.trace[first + 1].end - 99 - 2 - firstRead; // of 100 rows
  const int64_t end = latency + timing::doneToEnded; // of an instruction, from its last read on
  ASSERT_GT(free, 1);
  EXPECT_EQ(run(1, free).trace[first + 2].end, firstRead + free - 1 + end);
  EXPECT_EQ(run(1, free + 1).trace[first + 2].end, probe.trace[first + 1].end - 1 + end);
  EXPECT_EQ(run(0, free + 1).trace[first + 2].end, firstRead + free + end);
}

// Folds of M rows whose weights are in the scratchpad.
TEST(Matrix, FoldsTakeTheGreaterOfRowsAndWeightLoad) {
  for (const char *name : {"edge16", "edge32", "wide32x8", "odd12x20"}) {
    const isa::Isa &isa = target(name);
    const int64_t k = isa.param("rows"), n = isa.param("cols"),
                  bank = static_cast<int64_t>(isa.memory(isa::Space::Spad).bankBytes());
    for (int64_t m : {int64_t(1), k, k + 3, int64_t(49)}) {
      std::string text =
          fmt::format("matrix.set r0=a_s0, v0={}, r1=w_s0, v1={}\nmatrix.set r0=d_s0, v0={}, "
                      "r1=a_s1, v1=0\nfill d={}, value=0, n1=1, n0=2048\nfence\n",
                      k, n, n, 2 * bank);
      const int folds = 20;
      for (int i = 0; i < folds; ++i)
        text += fmt::format("mload w=0, k={}, n={}\nmmul a={}, d=0, n1=1, n0={}, k={}, n={}, "
                            "accumulate=1, swap=1\n",
                            k, n, bank, m, k, n);
      RunSetup setup{isa, idealDram(isa), {}};
      const RunRecord record = run(text + "halt", setup);
      // The first load, the folds, and the last row's way through the array. Fetch keeps up with
      // all but the shortest folds.
      const int64_t total =
          record.trace[first + 2 * size_t(folds) - 1].end - record.trace[first].start + 1;
      const int64_t fold = std::max(m, k + 3);
      EXPECT_EQ(total, k + 3 + (folds - 1) * fold + m + pipeline(isa)) << name << ", M = " << m;
      // SCALE-Sim's form, which overlaps nothing between folds: ceil(K/R) ceil(N/C) (M + 2R + C -
      // 2) - 1.
      EXPECT_LT(total, folds * (m + 2 * k + n - 2) - 1 + k + pipeline(isa))
          << name << ", M = " << m;
    }
  }
}

TEST(Matrix, FoldOrderOfAccumulatesNeedsNoGap) {
  // Onto the same accumulators, again and again: the array forwards.
  std::string text;
  for (int i = 0; i < 6; ++i)
    text += "mmul a=0x8000, d=0, n1=1, n0=1, k=16, n=16, accumulate=1, swap=0\n";
  const RunRecord record = run(strides + text + "halt");
  for (size_t i = 1; i < 4; ++i)
    EXPECT_EQ(record.trace[first + i].end,
              record.trace[first + i - 1].end +
                  (record.trace[first + i].start - record.trace[first + i - 1].start));
}

} // namespace
} // namespace tilewright::cycle
