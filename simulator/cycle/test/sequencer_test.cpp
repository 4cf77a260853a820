// Rows SEQ-* and SEM-* of docs/microarchitecture.md, on a fetch buffer of 64 instructions in lines
// of four, 16 ahead, two on the way, and a queue of eight. On ideal DRAM a line that is requested
// in cycle t is on the bus from t + 1 to t + 8.
#include "tilewright/testing/harness.h"

#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

RunRecord run(const std::string &text) {
  static const isa::Isa isa =
      overlaid("timing: { sequencer: { fetch_bytes: \"64\", buffer: \"64\", "
               "ahead: \"16\", outstanding: \"2\" } }\n"
               "machine: { units: { vector: { queue: \"8\" } } }");
  return cycle::run(text, RunSetup{isa, idealDram(isa), {}});
}

std::string repeat(int times, const std::string &line) {
  std::string text;
  for (int i = 0; i < times; ++i)
    text += line + "\n";
  return text;
}

const char *const nothing = "load.set r0=s_s1, v0=0, r1=d_s1, v1=0";

TEST(Sequencer, SeqLineIsValidInTheCycleAfterItsLastBeat) {
  const RunRecord record = run("halt");
  EXPECT_EQ(record.trace[0].dispatch, 10); // requested in 0, on the bus in 1 to 8, decoded in 9
  EXPECT_EQ(record.trace[0].stalls[static_cast<int>(Stall::Fetch)], 10);
  EXPECT_EQ(record.fetchBytes, 64u);
}

TEST(Sequencer, SeqHaltEndsTheRunInItsCycle) { EXPECT_EQ(run("halt").cycles, 11); }

TEST(Sequencer, SeqDecodesOneInstructionACycleWhileLinesAreThere) {
  const RunRecord record = run(repeat(9, nothing) + "halt");
  const int64_t expected[] = {10, 11, 12, 13, 18, 19, 20, 21, 26};
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(record.trace[static_cast<size_t>(i)].dispatch, expected[i]) << i;
}

TEST(Sequencer, SeqFetchKeepsTwoLinesOnTheWayAndRunsSixteenInstructionsAhead) {
  // Lines 0 and 1 are requested in 0 and 1; line 2 when line 0 has come. `ahead` is 16
  // instructions: lines 0 to 4 before the first executes.
  const RunRecord record = run(repeat(40, nothing) + "halt");
  EXPECT_EQ(record.trace[8].dispatch, 26);
  EXPECT_EQ(record.trace[12].dispatch, 34);
  EXPECT_EQ(record.fetchBytes, 11u * 64);
  EXPECT_EQ(run("branch rs=x0, negate=0, offset=40\n" + repeat(39, nothing) + "halt").fetchBytes,
            4u * 64)
      << "lines 0, 1 and, when the first is there and the branch is taken, the target's and one on "
         "the way";
}

TEST(Sequencer, SeqFetchDropsWhatIsOnTheWayToAnotherLine) {
  // Four on the way: lines 0 to 3 are requested in 0 to 3, line 4 in 9, when line 0 has come; it is
  // on the bus from 33 to 40. The branch in 10 goes to line 20, which is requested when line 1 has
  // come, and comes behind line 4.
  const isa::Isa isa = overlaid("timing: { sequencer: { fetch_bytes: \"64\", buffer: \"64\", "
                                "ahead: \"16\", outstanding: \"4\" } }");
  const std::string text = "branch rs=x0, negate=0, offset=80\n" + repeat(79, nothing) + "halt";
  const RunRecord record = cycle::run(text, RunSetup{isa, idealDram(isa), {}});
  EXPECT_EQ(record.trace[1].dispatch, 40 + 8 + 2);
  EXPECT_EQ(record.fetchBytes, 6u * 64);
}

TEST(Sequencer, SeqFetchKeepsTheLinesOfALoop) {
  // 44 instructions and the prefetch of 16 fit into the buffer of 64, 100 do not.
  const auto fetched = [](int body, int runs) {
    return run("loop count=" + std::to_string(runs) + ", length=" + std::to_string(body) + "\n" +
               repeat(body, nothing) + "halt")
        .fetchBytes;
  };
  EXPECT_EQ(fetched(44, 9), fetched(44, 1));
  EXPECT_GT(fetched(100, 9), 7 * fetched(100, 1));
}

TEST(Sequencer, SeqFetchComesBeforeLoadsOnTheAddressChannel) {
  // The first load starts in 11 and has eight bursts to request from 14 on. Line 3 is requested in
  // 17, when line 1 has come: the last burst goes in 22, and the next load starts in 23.
  const RunRecord record = run("load s=0, d=0, n1=8, n0=8\nload s=0, d=0x4000, n1=1, n0=8\n" +
                               repeat(20, nothing) + "halt");
  EXPECT_EQ(record.trace[0].start, 11);
  EXPECT_EQ(record.trace[1].start, 23);
  const RunRecord alone = run("load s=0, d=0, n1=8, n0=8\nload s=0, d=0x4000, n1=1, n0=8\nhalt");
  EXPECT_EQ(alone.trace[1].start, 22) << "no line 3 to fetch";
}

TEST(Sequencer, SeqLoopsCostNothingOnceTheirLinesAreThere) {
  const RunRecord once =
      run("loop count=1, length=3\n" + repeat(3, "vector.set r0=lo, v0=0, r1=hi, v1=0") + "halt");
  const RunRecord many =
      run("loop count=101, length=3\n" + repeat(3, "vector.set r0=lo, v0=0, r1=hi, v1=0") + "halt");
  EXPECT_EQ(many.fetchBytes, once.fetchBytes);
  // The second line comes while the loop runs: what is saved is its wait.
  EXPECT_EQ(many.trace[1 + 303 - 1].dispatch - many.trace[1].dispatch, 302);
}

TEST(Sequencer, SeqPredictCostsACycleWhereTheFlowGoesElsewhere) {
  // Over three lines that are there: a fence waits for them.
  const std::string wait = "fill d=0, value=0, n1=1, n0=1024\nfence\n";
  const auto cycles = [&](const std::string &text, size_t from, size_t to) {
    const RunRecord record = run(wait + text + repeat(3, nothing) + "halt");
    return record.trace[from].dispatch - record.trace[to].dispatch;
  };
  EXPECT_EQ(cycles("branch rs=x0, negate=1, offset=3\n", 3, 2), 1) << "not taken";
  EXPECT_EQ(cycles("branch rs=x0, negate=0, offset=3\n", 3, 2), 2) << "taken";
  EXPECT_EQ(cycles("branch rs=x0, negate=0, offset=1\n", 3, 2), 2) << "taken, to what is behind it";
  EXPECT_EQ(cycles("loop count=0, length=2\n", 3, 2), 2) << "skipped";
  // In the first run of a body of one instruction its loop is not there yet, in the last it still
  // is.
  EXPECT_EQ(cycles("loop count=5, length=1\n", 8, 2), 6 + 2);
  EXPECT_EQ(cycles("loop count=5, length=2\n", 13, 2), 11);
}

TEST(Sequencer, SeqLoopAddsStepsInNoTime) {
  const std::string body = "load s=0+x1, d=0+x2, n1=1, n0=8\n";
  const RunRecord without = run("loop count=9, length=1\n" + body + "halt"),
                  with = run("loop.step count=9, length=1, r0=1, step0=0, r1=2, step1=8\n" + body +
                             "halt");
  EXPECT_EQ(with.trace[9].dispatch, without.trace[9].dispatch);
}

TEST(Sequencer, SeqLoopOfCountZeroIsSkipped) {
  const RunRecord record = run("loop count=0, length=2\n" + repeat(2, nothing) + "halt");
  EXPECT_EQ(record.instructions, 2u);
}

TEST(Sequencer, SeqDispatchStallsUntilTheQueueHasAFreeEntry) {
  // While the first works, eight stand in the queue; the ninth gets in when the first of them has
  // been seen to leave.
  const std::string set = "vector.set r0=lo, v0=0, r1=hi, v1=0";
  const RunRecord record = run("vabs a=0, d=0x1000, n0=100, nc=16\n" + repeat(9, set) + "halt");
  const InstructionRecord &first = record.trace[0], &ninth = record.trace[9];
  EXPECT_EQ(record.trace[1].start, first.end) << "it was done in the cycle before";
  EXPECT_EQ(ninth.dispatch, record.trace[1].start + 1);
  EXPECT_EQ(ninth.stalls[static_cast<int>(Stall::QueueFull)], ninth.dispatch - 27);
  EXPECT_EQ(run("vabs a=0, d=0x1000, n0=100, nc=16\n" + repeat(8, set) + "halt").trace[8].dispatch,
            26)
      << "eight fit";
}

TEST(Sequencer, SeqFenceExecutesInTheCycleAfterTheLastUnitHasEnded) {
  const RunRecord record = run("fill d=0, value=0, n1=1, n0=640\nfence\nhalt");
  EXPECT_EQ(record.trace[1].start, record.trace[0].end + 1);
  EXPECT_EQ(record.trace[2].start, record.trace[1].start + 1);
}

TEST(Semaphores, SemAcquireInTheCycleAfterTheSignal) {
  const RunRecord record = run("fill d=0, value=0, n1=1, n0=640 !signal=5\nvector.set r0=lo, v0=0, "
                               "r1=hi, v1=0 !wait=5\nhalt");
  EXPECT_EQ(record.trace[1].start, record.trace[0].end + 1);
}

TEST(Semaphores, SemAcquireOfOneTokenGoesToTheMatrixUnitFirst) {
  const RunRecord record = run(R"(
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0
    matrix.set r0=a_zp, v0=0, r1=w_zp, v1=0 !wait=0
    fill d=0, value=0, n1=1, n0=640 !signal=0
    fill d=0, value=0, n1=1, n0=640 !signal=0
    halt)");
  EXPECT_EQ(record.trace[1].start, record.trace[2].end + 1);
  EXPECT_EQ(record.trace[0].start, record.trace[3].end + 1);
}

TEST(Semaphores, SemAcquireOfOneTokenGoesToTheLoadUnitBeforeTheStoreUnit) {
  const RunRecord record = run(R"(
    store.set r0=s_s1, v0=0, r1=d_s1, v1=0 !wait=0
    load.set r0=s_s1, v0=0, r1=d_s1, v1=0 !wait=0
    vabs a=0, d=0x1000, n0=50, nc=16 !signal=0
    vabs a=0, d=0x1000, n0=50, nc=16 !signal=0
    halt)");
  EXPECT_EQ(record.trace[1].start, record.trace[2].end + 1);
  EXPECT_EQ(record.trace[0].start, record.trace[3].end + 1);
}

TEST(Semaphores, SemAcquireOfSeveralIsAllAtOnce) {
  const RunRecord record = run(R"(
    matrix.set r0=a_zp, v0=0, r1=w_zp, v1=0 !wait=0,1
    fill d=0, value=0, n1=1, n0=640 !signal=0
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0 !signal=0
    fill d=0, value=0, n1=1, n0=640 !signal=1
    halt)");
  // The vector unit takes 0 while the matrix unit waits for both.
  EXPECT_EQ(record.trace[2].start, record.trace[1].end + 1);
  EXPECT_EQ(record.trace[0].start, record.trace[3].end + 1);
}

TEST(Semaphores, SemReleaseBeyondTheGreatestCountWaits) {
  const RunRecord record = run(R"(
    loop count=64, length=1
    load.set r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=0
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0
    halt)");
  EXPECT_EQ(record.trace[63].start, record.trace[63].dispatch + 1) << "63 fit";
  EXPECT_EQ(record.trace[64].start, record.trace[65].end + 1);
  EXPECT_GT(record.trace[64].start, record.trace[64].dispatch + 1);
}

TEST(Semaphores, SemReleaseOfTheSequencerBeyondTheGreatestCountIsAStallOfTheSemaphore) {
  const RunRecord record = run(R"(
    vabs a=0, d=0x1000, n0=400, nc=16
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0
    loop count=64, length=1
    xset rd=1, value=0 !signal=0
    halt)");
  const InstructionRecord &last = record.trace[66];
  EXPECT_EQ(last.dispatch, record.trace[1].start + 1) << "63 fit";
  EXPECT_EQ(last.stalls[static_cast<int>(Stall::Semaphore)],
            last.dispatch - record.trace[65].dispatch - 1);
  EXPECT_GT(last.stalls[static_cast<int>(Stall::Semaphore)], 100);
}

TEST(Semaphores, SemReleaseOfTheMatrixUnitBeyondTheGreatestCountIsAStallOfTheSemaphore) {
  const RunRecord record = run(R"(
    loop count=63, length=1
    load.set r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=0
    vabs a=0, d=0x1000, n0=400, nc=16
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0
    vabs a=0, d=0x1000, n0=400, nc=16
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0
    mmul a=0, d=0x2000, n1=1, n0=1, k=16, n=16, accumulate=0, swap=0 !signal=0
    mmul a=0, d=0x2010, n1=1, n0=1, k=16, n=16, accumulate=0, swap=0 !signal=0
    halt)");
  const InstructionRecord &first = record.trace[68], &second = record.trace[69];
  EXPECT_EQ(first.end, record.trace[65].start + 1);
  EXPECT_EQ(second.end, record.trace[67].start + 1);
  EXPECT_GT(first.stalls[static_cast<int>(Stall::Semaphore)], 100);
  // From the cycle after that in which the first has ended on.
  EXPECT_EQ(second.stalls[static_cast<int>(Stall::Semaphore)], second.end - first.end - 1);
}

TEST(Semaphores, SemGrantIsOneACycle) {
  // Both wait for tokens of their own, which come at once; what asks for none goes on beside them.
  const RunRecord record = run(R"(
    vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0
    matrix.set r0=a_zp, v0=0, r1=w_zp, v1=0 !wait=1
    store.set r0=s_s1, v0=0, r1=d_s1, v1=0
    fill d=0, value=0, n1=1, n0=640 !signal=0,1
    halt)");
  EXPECT_EQ(record.trace[1].start, record.trace[3].end + 1);
  EXPECT_EQ(record.trace[0].start, record.trace[3].end + 2);
  EXPECT_EQ(record.trace[2].start, record.trace[2].dispatch + 1);
}

} // namespace
} // namespace tilewright::cycle
