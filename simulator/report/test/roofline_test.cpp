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

// A diagonal of weights in the array makes no more products than the vector unit does.
TEST(Roofline, depthwiseMacsAreTheVectorUnitsWhereverTheyAreMade) {
  Program program = sampleProgram();
  program.layers[0].depthwiseMacs = 2560;
  const Roofline roofline = reportOf(program).layers[0].roofline;
  EXPECT_EQ(roofline.arrayCycles, (10240 - 2560) / 256);
  EXPECT_EQ(roofline.vectorCycles, 2560 / sampleIsa().param("lanes"));
}

TEST(Roofline, neededBytesAreTheTensorsOnce) {
  Program program = sampleProgram();
  program.layers[0].inputBytes = 10;
  program.layers[0].weightBytes = 20;
  program.layers[0].outputBytes = 31;
  const Roofline roofline = reportOf(program).layers[0].roofline;
  EXPECT_EQ(roofline.neededBytes, 61);
  EXPECT_EQ(roofline.dramCycles, 8); // of 8 bytes
}

TEST(Roofline, neededBytesAreNoMoreThanWasMoved) {
  Program program = sampleProgram();
  program.layers[0].inputBytes = 1000000; // stay on chip
  EXPECT_EQ(reportOf(program).layers[0].roofline.neededBytes, 160 + 128);
}

TEST(Roofline, theWholeNeedsNoTensorBetweenLayers) {
  Program program = sampleProgram();
  program.inputs = {{"x", DType::I8, {3, 5}, 0, {}, 0}};
  program.outputs = {{"y", DType::I32, {2}, 64, {}, 0}};
  EXPECT_EQ(reportOf(program).roofline.neededBytes, 15 + 8 + 220);
}

TEST(Roofline, boundIsTheLargestAndNamesIt) {
  EXPECT_EQ((Roofline{5, 2, 3, 0}.boundCycles()), 5);
  EXPECT_STREQ((Roofline{5, 2, 3, 0}.boundBy()), "compute");
  EXPECT_STREQ((Roofline{2, 5, 3, 0}.boundBy()), "vector");
  EXPECT_STREQ((Roofline{2, 3, 5, 0}.boundBy()), "dram");
  EXPECT_STREQ((Roofline{0, 0, 0, 0}.boundBy()), "-");
}

TEST(Roofline, onATieTheDearerUnitBounds) {
  EXPECT_STREQ((Roofline{5, 5, 5, 0}.boundBy()), "compute");
  EXPECT_STREQ((Roofline{0, 5, 5, 0}.boundBy()), "vector");
}

TEST(Roofline, timesBoundOfNothingIsZero) {
  EXPECT_DOUBLE_EQ(timesBound({10, 0, 0, 0}, 25), 2.5);
  EXPECT_EQ(timesBound({}, 25), 0);
}

TEST(Roofline, hugeCountsDoNotOverflow) {
  Program program = sampleProgram();
  program.layers[0].macs = INT64_MAX;
  EXPECT_EQ(reportOf(program).layers[0].roofline.arrayCycles, INT64_MAX / 256 + 1);
}

} // namespace
