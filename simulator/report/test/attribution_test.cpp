// To which layer each cycle belongs, rule by rule.
#include "sample.h"
#include "tilewright/simulator/engine/attribution.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;

namespace {

// The layer of one cycle of a run with these instructions.
int layerAt(int64_t cycle, const RunRecord &run) {
  for (const LayerInterval &interval : attributeCycles(sampleProgram(), run, sampleIsa()))
    if (interval.begin <= cycle && cycle < interval.end)
      return interval.layer;
  return -2;
}

RunRecord runOf(std::vector<InstructionRecord> trace, int64_t cycles) {
  RunRecord run;
  run.cycles = cycles;
  run.trace = std::move(trace);
  return run;
}

// Instruction numbers of the sample program.
enum Pc { Load0, Mmul0, Vadd0, Store0, Load1, Mmul1, Halt };

TEST(Attribution, givesACycleToTheMatrixUnitsLayer) {
  EXPECT_EQ(layerAt(5, runOf({record(Load0, 0, 10), record(Mmul1, 0, 10)}, 10)), 1);
}

TEST(Attribution, givesACycleToTheVectorUnitBeforeTheDmas) {
  EXPECT_EQ(layerAt(5, runOf({record(Load1, 0, 10), record(Vadd0, 0, 10)}, 10)), 0);
}

TEST(Attribution, givesACycleToTheEarlierOfTheDmas) {
  EXPECT_EQ(layerAt(5, runOf({record(Store0, 0, 10), record(Load1, 0, 10)}, 10)), 0);
  EXPECT_EQ(layerAt(5, runOf({record(Load1, 0, 10), record(Store0, 0, 10)}, 10)), 1);
}

TEST(Attribution, givesAnIdleCycleToTheOldestIncompleteInstruction) {
  EXPECT_EQ(layerAt(5, runOf({record(Load1, 8, 10), record(Store0, 9, 10)}, 10)), 1);
}

TEST(Attribution, givesTheEndToNobody) {
  EXPECT_EQ(layerAt(12, runOf({record(Mmul0, 0, 10)}, 20)), -1);
}

TEST(Attribution, countsTheEarlierOfTwoInstructionsInOneUnit) {
  RunRecord run = runOf({record(Mmul0, 0, 10), record(Mmul1, 5, 12)}, 12);
  EXPECT_EQ(layerAt(9, run), 0);
  EXPECT_EQ(layerAt(10, run), 1);
}

TEST(Attribution, coversTheRunWithoutGaps) {
  int64_t next = 0;
  for (const LayerInterval &interval :
       attributeCycles(sampleProgram(), sampleRecord(), sampleIsa())) {
    EXPECT_EQ(interval.begin, next);
    EXPECT_LT(interval.begin, interval.end);
    next = interval.end;
  }
  EXPECT_EQ(next, 100);
}

TEST(Attribution, changesExactlyAtTheBoundaries) {
  RunRecord run = sampleRecord();
  EXPECT_EQ(layerAt(59, run), 0); // layer 0's product
  EXPECT_EQ(layerAt(60, run), 1); // layer 1's product
  EXPECT_EQ(layerAt(79, run), 1);
  EXPECT_EQ(layerAt(80, run), 0); // layer 0's store, exposed
  EXPECT_EQ(layerAt(89, run), 0);
  EXPECT_EQ(layerAt(90, run), -1); // halt
}

TEST(Attribution, givesEverythingToNobodyWithoutATrace) {
  EXPECT_EQ(layerAt(50, runOf({}, 100)), -1);
}

TEST(Attribution, isEmptyForARunOfNoCycles) {
  EXPECT_TRUE(
      attributeCycles(sampleProgram(), runOf({record(Mmul0, 0, 0)}, 0), sampleIsa()).empty());
}

} // namespace
