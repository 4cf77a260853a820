// The estimator against the cycle engine's core, on programs in which units meet at a port: each
// beside one in which they do not.
#include "tilewright/compiler/schedule/estimate.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/cycle/timing_engine.h"
#include "tilewright/testing/source_path.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

struct Times {
  int64_t simulated, estimated;
};

isa::Isa edge16(const std::vector<std::string> &overlays = {}) {
  isa::LoadOptions options;
  options.target = "edge16";
  options.overlays = overlays;
  return isa::load(options);
}

Times timesOf(const std::string &text, const isa::Isa &isa, int64_t enough = INT64_MAX) {
  const std::vector<timing::InstructionTiming> plans = timing::makeTimings(isa);
  Program program;
  program.file = "test.elf";
  program.codeAddress = uint64_t(1) << 30;
  Stream stream(isa);
  for (const isa::DecodedInstruction &decoded : isa::assemble(isa, text + "\nhalt", "test.s")) {
    const isa::Bits bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
    stream.push_back({decoded, 0});
  }
  program.dramBytes = program.codeAddress + program.code.size();
  return {*TimingEngine(isa).cycles(program),
          estimateCycles(stream, isa, plans, program.codeAddress, enough)};
}

Times timesOf(const std::string &text, int64_t enough = INT64_MAX) {
  static const isa::Isa isa = edge16();
  return timesOf(text, isa, enough);
}

// Banks of the scratchpad have 0x8000 bytes, those of the accumulators 0x2000 elements.
const std::string dense = R"(
    matrix.set r0=a_s0, v0=16, r1=w_s0, v1=16
    matrix.set r0=d_s0, v0=16, r1=a_s1, v1=0
    vector.set r0=a_s0, v0=16, r1=d_s0, v1=16
    vector.set r0=k0, v0=3, r1=k1, v1=3
    vector.set r0=a_k0, v0=16, r1=a_k1, v1=160
    vector.set r0=b_k0, v0=16, r1=b_k1, v1=48
    fence
)";

// Meeting takes longer than not meeting, and both are estimated to the cycle.
void expectExact(const std::string &meeting, const std::string &apart) {
  const Times one = timesOf(dense + meeting), other = timesOf(dense + apart);
  EXPECT_EQ(other.estimated, other.simulated) << apart;
  EXPECT_EQ(one.estimated, one.simulated) << meeting;
  EXPECT_GT(one.simulated, other.simulated) << meeting;
}

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(Estimate, EndsEarlyWhereTheTimeIsEnoughToLose) {
  const std::string text = dense + "vdw a=0, b=0x8000, d=0, n0=1000, nc=16";
  const int64_t whole = timesOf(text).estimated;
  EXPECT_EQ(timesOf(text, whole + 1).estimated, whole);
  const int64_t part = timesOf(text, 500).estimated;
  EXPECT_GE(part, 500);
  EXPECT_LT(part, whole);
}

// Sums that stand in the array: 3 x 40 products a sum, blocks of 16, 16 and 5 pixels.
TEST(Estimate, SumsThatStandAreExact) {
  const isa::Isa isa = edge16({sourcePath("isa/what-if/output-stationary.yaml")});
  const std::string settings = replaced(dense, "fence",
                                        "matrix.set r0=depth, v0=40, r1=taps1, v1=3\n"
                                        "matrix.set r0=a_k1, v0=0x100, r1=w_k1, v1=640\nfence\n");
  const std::string sums = "msum a=0, w=0x8000, d=0, n1=1, n0=37, n=16\n",
                    product = "mmul a=0x10000, d=0, n1=1, n0=5, k=16, n=16, accumulate=1, swap=0\n";
  auto exact = [&](const std::string &text) {
    const Times times = timesOf(settings + text, isa);
    EXPECT_EQ(times.estimated, times.simulated) << text;
    return times.simulated;
  };
  const int64_t apart = exact(sums + product);
  // The blocks of 16 read both in all cycles of a chunk of 16, half of those of a chunk of 8.
  EXPECT_EQ(exact(replaced(sums, "w=0x8000", "w=0x4000") + product),
            apart + 3 * (2 * (16 + 16 + 8) + 5 + 5 + 5));
  exact(sums + replaced(sums, "d=0", "d=0x2000") + product);
  exact(replaced(sums, "n0=37", "n0=0") + product + sums);
  // Others wait at the banks of the activations and of the weights, which are read in every cycle,
  // and of the sums.
  const std::string whole =
      "matrix.set r0=depth, v0=32, r1=w_k1, v1=512\n" + replaced(sums, "n0=37", "n0=32");
  exact(whole + "vrescale.i8 a=0x4000, d=0x20000, n0=90, nc=16\n");
  exact(whole + "vrescale.i8 a=0xc000, d=0x20000, n0=90, nc=16\n");
  exact(sums + "mload w=0x8000, k=16, n=16\n");
  exact(sums + "vrescale a=0, d=0x20000, n0=90, nc=16\n");
  exact(sums + "fill.acc d=0x1000, value=0, n1=1, n0=0x400\n");
}

TEST(Estimate, WeightsWaitForActivations) {
  const std::string text = "mmul a=0, d=0, n1=1, n0=100, k=16, n=16, accumulate=0, swap=0\n"
                           "mload w=0x4000, k=16, n=16\n"
                           "mmul a=0, d=0, n1=1, n0=10, k=16, n=16, accumulate=0, swap=1";
  expectExact(text, replaced(text, "w=0x4000", "w=0x8000"));
}

TEST(Estimate, WeightsWaitOnlyWhileActivationsAreInTheirBank) {
  // 20 rows of the first bank, then 80 of the second.
  const std::string text = "mmul a=0x7ec0, d=0, n1=1, n0=100, k=16, n=16, accumulate=0, swap=0\n"
                           "mload w=0, k=16, n=16 !signal=0\n"
                           "vdw a=0x10000, b=0x18000, d=0x2000, n0=30, nc=16 !wait=0";
  expectExact(text, replaced(text, "w=0,", "w=0x10000,"));
}

TEST(Estimate, TheVectorUnitStopsAtTheFirstTapInABankThatIsTaken) {
  const std::string text = "mmul a=0, d=0x2000, n1=1, n0=400, k=16, n=16, accumulate=0, swap=0\n"
                           "vdw a=0x7f00, b=0x18000, d=0, n0=20, nc=16";
  const Times one = timesOf(dense + text);
  const Times other = timesOf(dense + replaced(text, "a=0x7f00", "a=0x8000"));
  EXPECT_EQ(other.estimated, other.simulated);
  EXPECT_GT(one.simulated, other.simulated + 100);
  EXPECT_LE(std::abs(one.estimated - one.simulated), 9); // a beat has nine taps
}

TEST(Estimate, StreamsOfOneBankTakeTurns) {
  const std::string text = "vdw a=0, b=0x4000, d=0, n0=40, nc=16";
  expectExact(text, replaced(text, "b=0x4000", "b=0x8000"));
}

// Rows of 4 strips with a value each, or a strip for all rows; the last strip may have other lanes.
TEST(Estimate, StreamsThatStayAreHeld) {
  const auto exact = [](const std::string &text, const char *extent = "nc=64") {
    const std::string of = replaced(text, "nc=64", extent);
    expectExact(of, replaced(of, "b=0x1f00", "b=0x3f00"));
    return timesOf(dense + of).simulated;
  };
  const std::string row = "vector.set r0=a_s0, v0=64, r1=d_s0, v1=64\n"
                          "vector.set r0=b_s0, v0=1, r1=b_sc, v1=0\n"
                          "vsub a=0, b=0x1f00, d=0x2000, n0=40, nc=64";
  const int64_t held = exact(row);
  EXPECT_EQ(exact(row, "nc=56"), held);
  EXPECT_EQ(exact(replaced(row, "b_sc, v1=0", "b_sc, v1=1")), held + 40 * 3);
  const std::string strip = replaced(row, "b_s0, v0=1, r1=b_sc, v1=0", "b_s0, v0=0, r1=b_sc, v1=1");
  exact(strip, "nc=16");
  exact(strip, "nc=24");
  // A row of three values in two banks.
  const std::string across = replaced(replaced(replaced(row, "a=0,", "a=0x1fc0,"), "n0=40", "n0=3"),
                                      "d=0x2000", "d=0x3000");
  const Times times = timesOf(dense + across);
  EXPECT_EQ(times.estimated, times.simulated);
}

// Only the first strip reads a row that all others hold: from then on the array may have its bank.
TEST(Estimate, AStreamThatIsHeldLeavesItsBankToTheArray) {
  const std::string moves = "vector.set r0=b_s0, v0=16, r1=b_sc, v1=1\n"
                            "vmul.i8 a=0, b=0x8000, d=0x10000, n0=500, nc=16\n"
                            "load s=0, d=0x18000, n1=1, n0=64 !signal=0\n"
                            "mmul a=0xc000, d=0, n1=1, n0=300, k=16, n=16, accumulate=0, swap=0 "
                            "!wait=0";
  expectExact(moves, replaced(moves, "b_s0, v0=16", "b_s0, v0=0"));
}

// Strips of a row are taps; the last may have other lanes.
TEST(Estimate, JoinedLanesAreExact) {
  const std::string rows = "vector.set r0=a_s0, v0=70, r1=d_s0, v1=1\n";
  for (const char *extents : {"n0=40, nc=64", "n0=40, nc=70", "n0=9, nc=7", "n0=9, nc=0"}) {
    const Times times = timesOf(dense + rows + "vsum.lanes a=0x1f00, d=0x1000, " + extents);
    EXPECT_EQ(times.estimated, times.simulated) << extents;
  }
}

TEST(Estimate, AccumulatorsThatTheArrayReadsOrWritesAreNotToBeHad) {
  const std::string reads = "mmul a=0, d=0, n1=1, n0=300, k=16, n=16, accumulate=1, swap=0\n"
                            "load s=0, d=0x10000, n1=1, n0=512 !signal=0\n"
                            "vrescale a=0x1000, d=0x8000, n0=60, nc=16 !wait=0";
  expectExact(reads, replaced(reads, "accumulate=1", "accumulate=0"));
  const std::string writes = "mmul a=0, d=0, n1=1, n0=300, k=16, n=16, accumulate=0, swap=0\n"
                             "load s=0, d=0x10000, n1=1, n0=512 !signal=0\n"
                             "vdw a=0x8000, b=0x18000, d=0x800, n0=30, nc=16 !wait=0";
  expectExact(writes, replaced(writes, "d=0x800,", "d=0x2000,"));
}

TEST(Estimate, ALoadOfAccumulatorsWaitsForTheArraysSums) {
  const std::string text = "mmul a=0x8000, d=0, n1=1, n0=500, k=16, n=16, accumulate=0, swap=0\n"
                           "load.i32 s=0, d=0x1000, n1=1, n0=1024";
  expectExact(text, replaced(text, "d=0x1000", "d=0x2000"));
}

TEST(Estimate, AStoreWaitsForTheVectorUnitAndTheArray) {
  const std::string vector = "vdw a=0x8000, b=0x18000, d=0, n0=100, nc=16\n"
                             "store s=0x8800, d=0, n1=1, n0=1024";
  expectExact(vector, replaced(vector, "s=0x8800", "s=0"));
  const std::string matrix = "mmul a=0x8000, d=0, n1=1, n0=300, k=16, n=16, accumulate=0, swap=0\n"
                             "mmul a=0x8000, d=0, n1=1, n0=300, k=16, n=16, accumulate=0, swap=0\n"
                             "store s=0x8800, d=0, n1=1, n0=1024";
  expectExact(matrix, replaced(matrix, "s=0x8800", "s=0"));
}

TEST(Estimate, AStoreIsInterrupted) {
  const std::string text = "store s=0x8800, d=0, n1=1, n0=256\n"
                           "mmul a=0x8000, d=0, n1=1, n0=300, k=16, n=16, accumulate=0, swap=0";
  expectExact(text, replaced(text, "a=0x8000", "a=0"));
}

TEST(Estimate, ALoadOfSingleElementsWaitsForWritesOfTheVectorUnit) {
  const std::string text = "load.set r0=d_s0, v0=3, r1=d_s0, v1=3\n"
                           "load s=0, d=0x8000, n1=1, n0=1024\n"
                           "vdw.i8 a=0, b=0x18000, d=0xf000, n0=100, nc=16";
  expectExact(text, replaced(text, "d=0xf000", "d=0x10000"));
  const std::string always = "load.set r0=d_s0, v0=3, r1=d_s0, v1=3\n"
                             "load s=0, d=0x8000, n1=1, n0=1024\n"
                             "vrescale a=0, d=0xf000, n0=1000, nc=16";
  expectExact(always, replaced(always, "d=0xf000", "d=0x10000"));
}

// Whenever the load comes: also a few cycles before the first write.
TEST(Estimate, ALoadWaitsForWritesInEveryCycle) {
  int late = 0; // loads that end behind the vector unit
  for (int before = 1; before <= 40; ++before) {
    const std::string text = fmt::format("load s=0, d=0x8000, n1=1, n0=512 !signal=0\n"
                                         "vrescale a=0, d=0x10000, n0={}, nc=16\n"
                                         "vrescale a=0, d=0xa000, n0=400, nc=16\n"
                                         "vrescale a=0, d=0x10000, n0=1, nc=16 !wait=0",
                                         before);
    const Times met = timesOf(dense + text),
                apart = timesOf(dense + replaced(text, "d=0xa000", "d=0x18000"));
    EXPECT_EQ(met.estimated, met.simulated) << before;
    late += met.simulated > apart.simulated;
  }
  EXPECT_GT(late, 0);
}

} // namespace

// Loops whose bodies the fetch buffer holds, and one that it does not; nests that end together, of
// which the second end is not foretold; a body of one instruction; a loop that is skipped.
TEST(Estimate, LoopsAreExact) {
  const std::string product = "mmul a=0+x1, d=0, n1=1, n0=8, k=16, n=16, accumulate=0, swap=0\n",
                    set = "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n";
  auto times = [](const std::string &text, int n) {
    std::string result;
    for (; n > 0; --n)
      result += text;
    return result;
  };
  auto exact = [](const std::string &text) {
    const Times found = timesOf(dense + text);
    EXPECT_EQ(found.estimated, found.simulated) << text;
  };
  exact("loop count=20, length=2\n" + product + "xadd rd=x1, rs=x1, value=16\n");
  exact("loop count=50, length=1\n" + set);
  exact("loop.step count=20, length=1, r0=1, step0=16, r1=0, step1=0\n" + product);
  exact("loop.step count=20, length=2, r0=1, step0=16, r1=2, step1=4\n" + product + set);
  exact("loop count=5, length=4\nloop.step count=4, length=2, r0=1, step0=16, r1=0, step1=0\n" +
        times(set, 3));
  exact("loop.step count=7, length=300, r0=1, step0=16, r1=0, step1=0\n" + times(set, 300));
  exact("loop.step count=9, length=100, r0=1, step0=16, r1=0, step1=0\n" + times(product, 100));
  exact("loop count=0, length=3\n" + times(set, 3) + product);
  exact("loop count=5, length=3\n" + set + "loop count=4, length=1\n" + set);
  exact("loop count=5, length=4\nloop count=4, length=2\n" + times(set, 3));
  exact("loop count=7, length=80\n" + times(set, 80));
  exact("loop count=7, length=300\n" + times(set, 300));
  exact("loop count=3, length=150\n" + times(product, 150));
}

} // namespace tilewright
