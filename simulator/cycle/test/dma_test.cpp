// Rows LOAD-* and STORE-* of docs/microarchitecture.md, on ideal DRAM: a burst of n beats that is
// requested in t is on the bus from t + 1 to t + n, if the bus is free; a write whose last beat is
// sent in t is answered in t + 1.
#include "tilewright/simulator/timing/instruction_timing.h"
#include "tilewright/testing/harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

int64_t duration(const std::string &settings, const std::string &instruction,
                 const RunSetup &setup = {}) {
  const auto entries = after(settings + pause, instruction, setup);
  return entries.at(0).end - entries.at(0).start + 1;
}

// From the start to the request of the first burst; its cycle, and the one in which a burst's first
// piece comes out of its buffer; from the last piece to the end.
constexpr int64_t issue = timing::startedToMoved, done = timing::doneToEnded,
                  around = issue + 2 + done;
// The addresses of what needs no burst are computed in the cycle after the start.
constexpr int64_t prepared = 2;

TEST(Load, LoadDrainsABurstOnceItIsThere) {
  EXPECT_EQ(duration("", "load s=0, d=0, n1=1, n0=256"), around + 32 + 16);
  EXPECT_EQ(duration("", "load s=0, d=0, n1=1, n0=8"), around + 1 + 1);
  EXPECT_EQ(duration("", "load s=0, d=0, n1=1, n0=17"), around + 3 + 2);
}

TEST(Load, LoadBurstsFollowWithoutAGap) {
  EXPECT_EQ(duration("", "load s=0, d=0, n1=1, n0=1024"), around + 128 + 16);
}

TEST(Load, LoadBurstsEndAtTheirBoundary) {
  // 128 bytes up to the boundary, 128 after it: the first drains while the second comes.
  EXPECT_EQ(duration("", "load s=0x80, d=0, n1=1, n0=256"), around + 32 + 8);
  // An unaligned run takes one beat more.
  EXPECT_EQ(duration("", "load s=4, d=0, n1=1, n0=64"), around + 9 + 4);
}

TEST(Load, LoadRunsAreBurstsOfTheirOwn) {
  EXPECT_EQ(duration("load.set r0=s_s1, v0=64, r1=d_s1, v1=64\n", "load s=0, d=0, n1=8, n0=16"),
            around + 16 + 1);
}

TEST(Load, LoadStridedDestinationTakesOneElementACycle) {
  EXPECT_EQ(duration("load.set r0=d_s0, v0=2, r1=d_s1, v1=0\n", "load s=0, d=0, n1=1, n0=64"),
            around + 8 + 64);
}

TEST(Load, LoadIntoAccumulatorsMovesAPortOfElements) {
  EXPECT_EQ(duration("", "load.i8 s=0, d=0, n1=1, n0=64"), around + 8 + 4);
  EXPECT_EQ(duration("", "load.i32 s=0, d=0, n1=1, n0=16"), around + 8 + 1);
}

TEST(Load, LoadElementCutByABoundaryComesWithItsLastByte) {
  // Elements at 254 and 258: the first burst has 2 bytes and no whole element, and takes a cycle
  // all the same.
  EXPECT_EQ(duration("", "load.i32 s=254, d=0, n1=1, n0=2"), around + 1 + 1 + 1);
}

TEST(Load, LoadElementCutByABoundaryDrainsWithTheBurstThatEndsIt) {
  // 66 bytes up to the boundary hold 16 whole elements, 62 after it end 16 more, one a cycle.
  EXPECT_EQ(duration("load.set r0=d_s0, v0=2, r1=d_s1, v1=0\n", "load.i32 s=190, d=0, n1=1, n0=32"),
            around + 9 + 16 + 16);
}

TEST(Load, LoadFillNeedsNoBus) {
  EXPECT_EQ(duration("", "fill d=0, value=1, n1=1, n0=64"), prepared + 4 + done);
  EXPECT_EQ(duration("load.set r0=d_s1, v0=32, r1=n2, v1=1\n", "fill d=0, value=1, n1=4, n0=20"),
            prepared + 8 + done);
}

TEST(Load, LoadWithoutElementsIsDoneOnceItIsInFlight) {
  EXPECT_EQ(duration("", "load s=0, d=0, n1=0, n0=64"), prepared + 1 + done);
  EXPECT_EQ(duration("", "load s=0, d=0, n1=1, n0=0"), prepared + 1 + done);
}

TEST(Load, LoadNextStartsInTheCycleAfterTheLastRequest) {
  const auto entries =
      after(pause, "load s=0, d=0, n1=1, n0=512\nload s=0x1000, d=0x4000, n1=1, n0=256");
  EXPECT_EQ(entries[1].start, entries[0].start + issue + 2);
  EXPECT_EQ(entries[0].end, entries[0].start + around - 1 + 64 + 16);
  EXPECT_EQ(entries[1].end, entries[0].start + around - 1 + 96 + 16) << "the bus does not pause";
}

TEST(Load, LoadHasAsManyBurstsOnTheWayAsBuffers) {
  RunSetup setup;
  setup.dram.response = 1000;
  // Eight bursts of 8 beats are on the way; the ninth is requested in the cycle after the first has
  // drained.
  const std::string runs = "load.set r0=s_s1, v0=256, r1=d_s1, v1=64\n";
  EXPECT_EQ(duration(runs, "load s=0, d=0, n1=8, n0=64", setup), around + 64 + 1000 + 4);
  EXPECT_EQ(duration(runs, "load s=0, d=0, n1=9, n0=64", setup),
            issue + 2 * (2 + 8 + 1000 + 4) + done);
}

TEST(Load, LoadEndsInOrder) {
  const auto entries =
      after(pause, "load s=0, d=0, n1=1, n0=256\nfill d=0x4000, value=0, n1=1, n0=16");
  EXPECT_EQ(entries[1].start, entries[0].start + issue + 1);
  EXPECT_EQ(entries[1].end, entries[0].end + 2) << "it is not done before the first has ended";
}

TEST(Load, LoadThatCannotSignalKeepsTheNextFromItsEnd) {
  // 63 signals fit; the vector unit takes one when it has run. Then the first ends, and the next is
  // done in the cycle after that.
  const auto entries = after(pause, "loop count=63, length=1\n"
                                    "load.set r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=0\n"
                                    "vabs a=0, d=0x1000, n0=400, nc=16\n"
                                    "vector.set r0=lo, v0=0, r1=hi, v1=0 !wait=0\n"
                                    "fill d=0x4000, value=0, n1=1, n0=16 !signal=0\n"
                                    "fill d=0x4000, value=0, n1=1, n0=16");
  const InstructionRecord &taken = entries[65], &first = entries[66], &second = entries[67];
  EXPECT_EQ(first.end, taken.start + 1);
  EXPECT_EQ(second.end, first.end + 2);
}

TEST(Load, LoadWaitsForVectorWritesOfTheSameBank) {
  const std::string settings = "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n";
  const std::string vector = "vrescale a=0, d=0x0, n0=100, nc=16\n";
  const auto apart = after(settings + pause, vector + "fill d=0x8000, value=0, n1=1, n0=320");
  const auto together = after(settings + pause, vector + "fill d=0x1000, value=0, n1=1, n0=320");
  EXPECT_EQ(apart[1].end - apart[1].start, prepared + 20 - 1 + done);
  // Some pieces before the vector unit's first write, the others after its last, which is in the
  // cycle before its end.
  const auto &timing = target("edge16").timing();
  const int64_t firstWrite = together[0].start + timing.at("vector.start") +
                             target("edge16").find("vrescale")->pipeline.latency;
  const int64_t before = firstWrite - (together[1].start + prepared);
  ASSERT_GT(before, 0);
  EXPECT_EQ(together[1].end, together[0].end - done + 20 - before + done);
}

// From the start, after which the first piece is read, and from reading the last piece of a burst
// to its first beat, where that does not wait.
constexpr int64_t toBus = issue + timing::gatheredToSent;

TEST(Store, StoreSendsABurstOnceItIsGathered) {
  EXPECT_EQ(duration("", "store s=0, d=0, n1=1, n0=256"), 15 + toBus + 32 + 1);
  EXPECT_EQ(duration("", "store s=0, d=0, n1=1, n0=8"), toBus + 1 + 1);
}

TEST(Store, StoreGathersWhileItSends) {
  EXPECT_EQ(duration("", "store s=0, d=0, n1=1, n0=1024"), 15 + toBus + 128 + 1);
}

TEST(Store, StoreBurstsEndAtTheirBoundary) {
  EXPECT_EQ(duration("", "store s=0, d=0x80, n1=1, n0=256"), 7 + toBus + 16 + 16 + 1);
}

TEST(Store, StoreStridedSourceTakesOneElementACycle) {
  EXPECT_EQ(duration("store.set r0=s_s0, v0=2, r1=s_s1, v1=0\n", "store s=0, d=0, n1=1, n0=64"),
            63 + toBus + 8 + 1);
}

TEST(Store, StoreOfAccumulators) {
  EXPECT_EQ(duration("", "store.i32 s=0, d=0, n1=1, n0=64"), 3 + toBus + 32 + 1);
  EXPECT_EQ(duration("", "store.i8 s=0, d=0, n1=1, n0=64"), 3 + toBus + 8 + 1);
}

TEST(Store, StoreWithoutElementsEndsOnceItIsInFlight) {
  EXPECT_EQ(duration("", "store s=0, d=0, n1=0, n0=64"), prepared + 1);
}

TEST(Store, StoreNextStartsInTheCycleAfterTheLastPiece) {
  const auto entries =
      after(pause, "store s=0, d=0, n1=1, n0=64\nstore s=0x4000, d=0x1000, n1=1, n0=64");
  EXPECT_EQ(entries[1].start, entries[0].start + issue + 4);
  EXPECT_EQ(entries[1].end, entries[0].end + 8);
}

TEST(Store, StoreHasFourGatherBuffers) {
  // Four bursts of one element are gathered in a row; the fifth when the first has been sent (64
  // cycles for 2 elements a cycle on the bus).
  const auto entries = after("store.set r0=s_s1, v0=64, r1=d_s1, v1=256\n" + pause,
                             "store s=0, d=0, n1=4, n0=16\nstore s=0x4000, d=0x2000, n1=4, n0=16");
  EXPECT_EQ(entries[1].start, entries[0].start + issue + 4);
  EXPECT_EQ(entries[0].end, entries[0].start + toBus + 8);
  EXPECT_EQ(entries[1].end, entries[0].end + 8)
      << "two beats a burst: the channel never waits for a buffer";
}

TEST(Store, StoreKeepsEightBurstsUnanswered) {
  RunSetup setup;
  setup.dram.response = 1000;
  const std::string runs = "store.set r0=s_s1, v0=64, r1=d_s1, v1=256\n";
  EXPECT_EQ(duration(runs, "store s=0, d=0, n1=8, n0=8", setup), toBus + 8 + 1000 + 1);
  EXPECT_EQ(duration(runs, "store s=0, d=0, n1=9, n0=8", setup),
            toBus + 1 + 1000 + 1 + 1 + 1000 + 1);
}

} // namespace
} // namespace tilewright::cycle
