// The bounds of layers and of the whole run.
#include "sample.h"
#include "tilewright/report/report.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;

namespace {

Report reportOf(const Program &program, const RunRecord &run = sampleRecord()) {
  return build(program, run, sampleIsa(), {});
}

TEST(Roofline, arrayCyclesAreMacsAtTheFullArray) {
  Program program = sampleProgram();
  program.layers[0].macs = 256 * 40 + 1;
  EXPECT_EQ(reportOf(program).layers[0].roofline.arrayCycles, 41);
  EXPECT_EQ(reportOf(program).layers[0].roofline.vectorCycles, 0);
}

TEST(Roofline, macsOfALayerWithoutProductsAreTheVectorUnits) {
  Program program = sampleProgram();
  program.runs = {{0, 0}, {1, 1}, {2, 0}, {3, 1}, {6, -1}}; // both products are layer 1's
  const Roofline roofline = reportOf(program).layers[0].roofline;
  EXPECT_EQ(roofline.arrayCycles, 0);
  EXPECT_EQ(roofline.vectorCycles, 10240 / sampleIsa().param("lanes"));
}

// Where the array has windows too, no order of the work keeps it from having nearly all of them.
TEST(Roofline, depthwiseMacsOfALayerWithProductsAreSharedByBothUnits) {
  Program program = sampleProgram();
  program.layers[0].depthwiseMacs = 2560;
  const Roofline roofline = reportOf(program).layers[0].roofline;
  EXPECT_EQ(roofline.arrayCycles, (10240 - 2560) / 256);
  EXPECT_EQ(roofline.vectorCycles, 0);
  EXPECT_EQ(roofline.sharedCycles, 10240 / (256 + sampleIsa().param("lanes")) + 1);
}

TEST(Roofline, withoutDepthwiseMacsNothingIsShared) {
  EXPECT_EQ(reportOf(sampleProgram()).layers[0].roofline.sharedCycles, 0);
}

TEST(Roofline, neededBytesAreTheTensorsOnce) {
  Program program = sampleProgram();
  program.layers[0].inputBytes = 10;
  program.layers[0].weightBytes = 20;
  program.layers[0].outputBytes = 31;
  const Roofline roofline = reportOf(program).layers[0].roofline;
  EXPECT_EQ(roofline.needs.bytes, 61);
  EXPECT_EQ(roofline.dramCycles, 8); // of 8 bytes
}

TEST(Roofline, dramCyclesFollowTheRateAtWhichItStreams) {
  const Needs needs{0, 0, 0, 25};
  EXPECT_EQ(rooflineOf(needs, {256, 16, {8, 1}}).dramCycles, 4);
  EXPECT_EQ(rooflineOf(needs, {256, 16, {8, 3}}).dramCycles, 10);
}

TEST(Roofline, neededBytesAreNoMoreThanWasMoved) {
  Program program = sampleProgram();
  program.layers[0].inputBytes = 1000000; // stay on chip
  EXPECT_EQ(reportOf(program).layers[0].roofline.needs.bytes, 160 + 128);
}

TEST(Roofline, theWholeNeedsNoTensorBetweenLayers) {
  Program program = sampleProgram();
  program.inputs = {{"x", DType::I8, {3, 5}, 0, {}, 0}};
  program.outputs = {{"y", DType::I32, {2}, 64, {}, 0}};
  EXPECT_EQ(reportOf(program).roofline.needs.bytes, 15 + 8 + 220);
}

TEST(Roofline, boundIsTheLargestAndNamesIt) {
  EXPECT_EQ((Roofline{5, 2, 4, 3}.boundCycles()), 5);
  EXPECT_STREQ((Roofline{5, 2, 4, 3}.boundBy()), "compute");
  EXPECT_STREQ((Roofline{2, 5, 4, 3}.boundBy()), "vector");
  EXPECT_STREQ((Roofline{2, 3, 5, 4}.boundBy()), "both");
  EXPECT_STREQ((Roofline{2, 3, 4, 5}.boundBy()), "dram");
  EXPECT_STREQ((Roofline{0, 0, 0, 0}.boundBy()), "-");
}

TEST(Roofline, onATieTheDearerUnitBounds) {
  EXPECT_STREQ((Roofline{5, 5, 5, 5}.boundBy()), "compute");
  EXPECT_STREQ((Roofline{0, 5, 5, 5}.boundBy()), "vector");
  EXPECT_STREQ((Roofline{0, 0, 5, 5}.boundBy()), "both");
}

TEST(Roofline, timesBoundOfNothingIsZero) {
  EXPECT_DOUBLE_EQ(timesBound({10, 0, 0, 0}, 25), 2.5);
  EXPECT_EQ(timesBound({}, 25), 0);
}

// A layer of one cycle whose work was done under another one's has no distance from its bound.
TEST(Roofline, fewerCyclesThanTheBoundAreNoTimesOfIt) {
  const Roofline roofline{40, 0, 0, 90};
  EXPECT_TRUE(isHidden(roofline, 89));
  EXPECT_FALSE(isHidden(roofline, 90));
  EXPECT_EQ(timesBound(roofline, 89), 0);
  EXPECT_DOUBLE_EQ(timesBound(roofline, 90), 1);
}

TEST(Roofline, utilizationIsUnknownWhereMacsAreHidden) {
  Report report = reportOf(sampleProgram());
  Row &row = report.layers[0];
  row.cycles = 40; // what its products take in the array
  EXPECT_DOUBLE_EQ(*utilizationOf(report, row), 1);
  row.cycles = 39;
  EXPECT_FALSE(utilizationOf(report, row));
}

TEST(Roofline, hugeCountsDoNotOverflow) {
  Program program = sampleProgram();
  program.layers[0].macs = INT64_MAX;
  EXPECT_EQ(reportOf(program).layers[0].roofline.arrayCycles, INT64_MAX / 256 + 1);
  program.layers[0].depthwiseMacs = INT64_MAX / 2;
  program.layers[1].macs = INT64_MAX;
  EXPECT_EQ(reportOf(program).roofline.sharedCycles, INT64_MAX / (256 + 16) + 1);
}

} // namespace
