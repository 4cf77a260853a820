// Rows VEC-* of docs/microarchitecture.md.
#include "tilewright/simulator/timing/instruction_timing.h"
#include "tilewright/testing/harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

int64_t time(const char *key) { return target("edge16").timing().at(key); }
int64_t latency(const char *instruction) {
  return target("edge16").find(instruction)->pipeline.latency;
}

// Cycles of the instruction that comes after `settings` and a fence.
int64_t duration(const std::string &settings, const std::string &instruction) {
  const RunRecord record = run(settings + "fence\n" + instruction + "\nhalt");
  const InstructionRecord &entry = record.trace[record.trace.size() - 2];
  return entry.end - entry.start + 1;
}

// From the start to the end, in the cycle after the last write, of an instruction that takes `taps`
// tap cycles.
int64_t expected(int64_t taps, const char *instruction) {
  return time("vector.start") + taps + latency(instruction) + timing::doneToEnded;
}

const std::string dense =
    "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\nvector.set r0=b_s0, v0=16, r1=b_s1, v1=0\n";

TEST(Vector, VecOneStripReadsAfterStartUpAndWritesAfterItsLatency) {
  EXPECT_EQ(duration("", "vabs a=0, d=0x1000, n0=1, nc=16"), expected(1, "vabs"));
}

TEST(Vector, VecStripsAreLanesWide) {
  EXPECT_EQ(duration(dense, "vabs a=0, d=0x1000, n0=10, nc=16"), expected(10, "vabs"));
  EXPECT_EQ(
      duration("vector.set r0=a_s0, v0=20, r1=d_s0, v1=20\n", "vabs a=0, d=0x1000, n0=10, nc=17"),
      expected(20, "vabs"));
  EXPECT_EQ(duration(dense, "vabs a=0, d=0x1000, n0=10, nc=1"), expected(10, "vabs"));
}

TEST(Vector, VecLatencyOfAnInstructionIsItsOwn) {
  EXPECT_EQ(duration("", "vrescale a=0, d=0, n0=1, nc=16"), expected(1, "vrescale"));
}

TEST(Vector, VecReadsTwoBanksAtOnceAndOneBankInTurn) {
  EXPECT_EQ(duration(dense, "vadd a=0, b=0x2000, d=0x1000, n0=10, nc=16"), expected(10, "vadd"));
  EXPECT_EQ(duration(dense, "vadd a=0, b=0x800, d=0x1000, n0=10, nc=16"), expected(20, "vadd"));
}

TEST(Vector, VecTapsTakeOneCycleEach) {
  EXPECT_EQ(duration("vector.set r0=k0, v0=3, r1=k1, v1=3\n" + dense,
                     "vdw a=0, b=0x8000, d=0, n0=5, nc=16"),
            expected(45, "vdw"));
}

TEST(Vector, VecStripWithoutTapsTakesOneCycle) {
  EXPECT_EQ(duration("vector.set r0=k0, v0=0, r1=k1, v1=3\n" + dense,
                     "vdw a=0, b=0x8000, d=0, n0=5, nc=16"),
            expected(5, "vdw"));
}

TEST(Vector, VecPiecesOfWideElements) {
  // Three steps of one strip of 16 elements, 64 bytes each through a port of 16.
  EXPECT_EQ(duration("", "vchannel a=0, nc=16"), expected(12, "vchannel"));
  EXPECT_EQ(duration("", "vtable.load a=0"), expected(16, "vtable.load"));
  EXPECT_EQ(duration("", "vtable16.load a=0"), expected(32 * 2 + 1, "vtable16.load"));
}

TEST(Vector, VecRepeatedElementIsReadOnceAStrip) {
  EXPECT_EQ(
      duration("vector.set r0=a_sc, v0=0, r1=d_s0, v1=32\n", "vabs a=0, d=0x1000, n0=1, nc=32"),
      expected(2, "vabs"));
}

// Of 3 rows of 4 strips, with a value for each row.
const std::string rows = "vector.set r0=a_s0, v0=64, r1=d_s0, v1=64\n"
                         "vector.set r0=b_s0, v0=1, r1=b_sc, v1=0\n";

TEST(Vector, VecHoldsARowsValueThatStandsInTheBankOfTheRow) {
  EXPECT_EQ(duration(rows, "vsub a=0, b=0x800, d=0x1000, n0=3, nc=64"), expected(3 * 5, "vsub"));
  EXPECT_EQ(duration(rows, "vsub a=0, b=0x2000, d=0x1000, n0=3, nc=64"), expected(3 * 4, "vsub"));
  EXPECT_EQ(duration(rows + "vector.set r0=b_s0, v0=0, r1=b_sc, v1=0\n",
                     "vsub a=0, b=0x800, d=0x1000, n0=3, nc=64"),
            expected(3 * 4 + 1, "vsub"));
  EXPECT_EQ(duration(rows, "vsub a=0, b=0x800, d=0x1000, n0=3, nc=56"), expected(3 * 5, "vsub"))
      << "the last strip has other lanes, and the same value";
}

TEST(Vector, VecHoldsAStripThatStandsWhereItStood) {
  const std::string again = "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                            "vector.set r0=b_s0, v0=0, r1=b_sc, v1=1\n";
  EXPECT_EQ(duration(again, "vsub a=0, b=0x800, d=0x1000, n0=10, nc=16"), expected(11, "vsub"));
  // Of two strips the second one is elsewhere, or it has other lanes in the same place.
  EXPECT_EQ(duration(again, "vsub a=0, b=0x800, d=0x1000, n0=1, nc=32"), expected(4, "vsub"));
  const std::string shifted = "vector.set r0=b_s0, v0=16, r1=d_s0, v1=32\n";
  EXPECT_EQ(duration(again + shifted, "vsub a=0, b=0x800, d=0x1000, n0=3, nc=24"),
            expected(12, "vsub"));
  EXPECT_EQ(duration(again + shifted, "vsub a=0, b=0x800, d=0x1000, n0=3, nc=32"),
            expected(2 * 6 - 2, "vsub"));
}

// The strips of a row are taps: a cycle each, and one element is written behind the last.
TEST(Vector, VecJoinsLanesAStripOfTheRowACycle) {
  const std::string rows = "vector.set r0=a_s0, v0=64, r1=d_s0, v1=1\n";
  for (const char *name : {"vsum.lanes", "vmaximum.lanes"}) {
    const auto of = [&](const char *extents) {
      return duration(rows, fmt::format("{} a=0, d=0x1000, {}", name, extents));
    };
    EXPECT_EQ(of("n0=1, nc=1"), expected(1, name));
    EXPECT_EQ(of("n0=10, nc=16"), expected(10, name));
    EXPECT_EQ(of("n0=10, nc=17"), expected(20, name));
    EXPECT_EQ(of("n0=10, nc=64"), expected(40, name));
    EXPECT_EQ(of("n0=10, nc=0"), expected(10, name)) << "a strip without taps takes one cycle";
    EXPECT_EQ(duration(rows, fmt::format("{} a=0, d=0x800, n0=10, nc=64", name)),
              expected(40, name))
        << "a bank is read and written at the same time";
  }
}

// Into a bank that the matrix unit writes in each cycle of a stretch.
TEST(Vector, VecJoinedLanesFreezeWhileTheirElementIsDenied) {
  const RunRecord record =
      run("matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
          "vector.set r0=a_s0, v0=64, r1=d_s0, v1=1\nfence\n"
          "mmul a=0x8000, d=0, n1=1, n0=100, k=16, n=16, accumulate=0, swap=0\n"
          "vsum.lanes a=0x2000, d=0x1000, n0=40, nc=64\nhalt");
  const InstructionRecord &vector = record.trace[4];
  const int64_t denied = vector.stalls[static_cast<int>(Stall::AccPort)];
  EXPECT_GT(denied, 90);
  EXPECT_LE(denied, 100);
  EXPECT_EQ(vector.end - vector.start + 1, expected(40 * 4, "vsum.lanes") + denied);
}

TEST(Vector, VecJoinsLanesOfANewInstruction) {
  const isa::Isa isa = overlaid(R"(
instructions:
  vminimum.lanes:
    name: "vminimum.lanes"
    summary: "Least element of each plane of rows, not above the one at b."
    unit: "vector"
    encode: { op: "0x90" }
    operands:
      a: { kind: "mem", space: "spad", type: "i8", access: "read" }
      b: { kind: "mem", space: "spad", type: "i8", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
      nc: { kind: "imm", type: "u12" }
    semantics:
      reduce:
        iter: [ "x in n0" ]
        reduce: { iter: [ "v in k1", "c in nc" ], op: "min", type: "i32", order: "any" }
        init: "b[x * b_s0]"
        out: "d[x * d_s0]"
        expr: "a[x * a_s0 + v * a_k1 + c * a_sc]"
)");
  ASSERT_TRUE(isa.find("vminimum.lanes")->steps[0].reducesLanes);
  const int64_t latency = isa.find("vminimum.lanes")->pipeline.latency;
  RunSetup setup{isa, idealDram(isa), {}};
  const auto cycles = [&](const char *text) {
    const RunRecord record = run(std::string("vector.set r0=a_s0, v0=200, r1=b_s0, v1=1\n"
                                             "vector.set r0=k1, v0=3, r1=a_k1, v1=40\nfence\n") +
                                     text + "\nhalt",
                                 setup);
    return record.trace[3].end - record.trace[3].start + 1 - latency - 2 - 1;
  };
  EXPECT_EQ(cycles("vminimum.lanes a=0, b=0x8000, d=0, n0=5, nc=40"), 5 * 3 * 3);
  EXPECT_EQ(cycles("vminimum.lanes a=0, b=0x4000, d=0, n0=5, nc=40"), 5 * (3 * 3 + 1))
      << "one bank: b's element goes with the first tap";
}

TEST(Vector, VecHoldsNothingAcrossStepsAndInstructions) {
  const std::string same = "vector.set r0=a_sc, v0=0, r1=b_sc, v1=0\n";
  EXPECT_EQ(duration(same + "vsub a=0, b=0x800, d=0x1000, n0=1, nc=16\n",
                     "vsub a=0, b=0x800, d=0x1000, n0=1, nc=16"),
            expected(2, "vsub"));
}

TEST(Vector, VecWithoutStripsIsDoneWhenItsFirstReadWouldBe) {
  EXPECT_EQ(duration("", "vabs a=0, d=0x1000, n0=0, nc=16"),
            time("vector.start") + 1 + timing::doneToEnded);
}

TEST(Vector, VecNextStartsWhenTheOneBeforeIsDone) {
  const RunRecord record =
      run(dense + "vabs a=0, d=0x1000, n0=3, nc=16\nvabs a=0, d=0x1000, n0=3, nc=16\nhalt");
  EXPECT_EQ(record.trace[3].start, record.trace[2].end)
      << "which it is in the cycle before it ends";
}

TEST(Vector, VecThatCannotSignalKeepsTheNextFromItsEnd) {
  const RunRecord record = run("loop count=63, length=1\n"
                               "vector.set r0=lo, v0=0, r1=hi, v1=0 !signal=0\n"
                               "store s=0, d=0, n1=1, n0=2048\n"
                               "store.set r0=s_s1, v0=0, r1=d_s1, v1=0 !wait=0\n"
                               "vabs a=0, d=0x1000, n0=1, nc=16 !signal=0\n"
                               "vabs a=0, d=0x1000, n0=1, nc=16\nhalt");
  const InstructionRecord &taken = record.trace[65], &first = record.trace[66],
                          &second = record.trace[67];
  ASSERT_GT(taken.start, second.start + 50);
  EXPECT_EQ(first.end, taken.start + 1);
  EXPECT_EQ(second.end, first.end + 2) << "it is done in the cycle after";
}

// The matrix unit writes accumulators of bank 0 in each cycle of a stretch.
const std::string stream = "matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\nmmul a=0x8000, d=0, n1=1, "
                           "n0=100, k=16, n=16, accumulate=0, swap=0 !signal=0\n";

TEST(Vector, VecFreezesWhileItsWriteIsDenied) {
  const RunRecord apart = run(stream + dense + "vrescale.widen a=0, d=0x2000, n0=1, nc=16\nhalt");
  const RunRecord together =
      run(stream + dense + "vrescale.widen a=0, d=0x1000, n0=60, nc=16\nhalt");
  EXPECT_EQ(apart.trace[4].stalls[static_cast<int>(Stall::AccPort)], 0);
  // The array's writes fill the cycles from start + pipeline to its end.
  const InstructionRecord &mmul = together.trace[1], &vector = together.trace[4];
  const int64_t firstRead = vector.start + time("vector.start");
  const int64_t firstWrite = firstRead + latency("vrescale.widen");
  const int64_t arrayFrom = mmul.end - 99, arrayTo = mmul.end;
  ASSERT_LT(firstWrite, arrayFrom + 1);
  EXPECT_EQ(vector.end, firstWrite + 59 + (arrayTo - arrayFrom + 1) + timing::doneToEnded);
  EXPECT_EQ(vector.stalls[static_cast<int>(Stall::AccPort)], arrayTo - arrayFrom + 1);
}

TEST(Vector, VecReadsWaitForActivationsOfTheSameBank) {
  const std::string activations = "matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\nmmul a=0x4000, d=0, "
                                  "n1=1, n0=100, k=16, n=16, accumulate=0, swap=0\n";
  const RunRecord record =
      run(activations + dense + "vrescale.i8 a=0, d=0x8000, n0=3, nc=16\nhalt");
  const InstructionRecord &mmul = record.trace[1], &vector = record.trace[4];
  EXPECT_EQ(vector.end,
            mmul.end - time("matrix.pipeline") + 3 + latency("vrescale.i8") + timing::doneToEnded);
}

// An instruction that no source file knows is timed from its semantics and its line of timing.
TEST(Vector, VecTimesANewInstructionOfTheDescription) {
  const isa::Isa isa = overlaid(R"(
instructions:
  vselect:
    name: "vselect"
    summary: "The first operand where it is positive, else the second; the third is added."
    unit: "vector"
    encode: { op: "0x90" }
    operands:
      a: { kind: "mem", space: "spad", type: "i8", access: "read" }
      b: { kind: "mem", space: "spad", type: "i8", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
      nc: { kind: "imm", type: "u12" }
    semantics:
      map:
        iter: [ "y in n1", "x in n0", "c in nc" ]
        out: "d[y * d_s1 + x * d_s0 + c]"
        expr: "a[x * a_s0 + c] > 0 ? a[x * a_s0 + c] : b[x * b_s0 + 2 * c]"
timing:
  instructions: { vselect: { latency: "11" } }
)");
  RunSetup setup{isa, idealDram(isa), {}};
  const auto duration = [&](const char *text) {
    const RunRecord record = run(std::string("vector.set r0=d_s0, v0=16, r1=d_s1, v1=0\n"
                                             "vector.set r0=a_s0, v0=16, r1=b_s0, v1=32\nfence\n") +
                                     text + "\nhalt",
                                 setup);
    return record.trace[3].end - record.trace[3].start + 1;
  };
  // One piece of the first operand, and one element a cycle of the second, whose lanes are two
  // apart.
  EXPECT_EQ(duration("vselect a=0, b=0x8000, d=0, n0=3, nc=16"), 2 + 3 * 16 + 11 + 1);
  EXPECT_EQ(duration("vselect a=0, b=0x4000, d=0, n0=3, nc=16"), 2 + 3 * 17 + 11 + 1) << "one bank";
}

} // namespace
} // namespace tilewright::cycle
