// Layers that run interleaved.
#include "sample.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace {

// Instructions: load, mmul, vadd, store, load, mmul, halt.
Report reportWith(std::vector<LayerRun> runs) {
  Program program = sampleProgram();
  program.runs = std::move(runs);
  return build(program, sampleRecord(), sampleIsa(), {});
}

Report interleaved() { return reportWith({{0, 0}, {2, 1}, {3, 0}, {6, -1}}); }

TEST(FusedStacks, layersOneAfterTheOtherAreNone) {
  EXPECT_THAT(reportWith({{0, 0}, {4, 1}, {6, -1}}).fusedStacks, SizeIs(0));
}

TEST(FusedStacks, earlyLoadsMakeNone) {
  EXPECT_THAT(reportWith({{0, 1}, {1, 0}, {4, 1}, {6, -1}}).fusedStacks, SizeIs(0));
}

TEST(FusedStacks, interleavedWorkOfTheUnitsMakesOne) {
  const Report report = interleaved();
  ASSERT_THAT(report.fusedStacks, SizeIs(1));
  EXPECT_THAT(report.fusedStacks[0].rows, ElementsAre(0, 1));
}

TEST(FusedStacks, addUpTheirLayers) {
  const Report report = interleaved();
  const FusedStack &stack = report.fusedStacks.at(0);
  EXPECT_EQ(stack.cycles, report.layers[0].cycles + report.layers[1].cycles);
  EXPECT_EQ(stack.macs, 10240);
  EXPECT_EQ(stack.dramBytes, 256u + 128u);
  EXPECT_EQ(stack.roofline.arrayCycles, 40);
  EXPECT_EQ(stack.roofline.dramCycles,
            report.layers[0].roofline.dramCycles + report.layers[1].roofline.dramCycles);
}

TEST(FusedStacks, haveATableOfTheirOwn) {
  EXPECT_THAT(
      toText(interleaved()),
      HasSubstr("interleaved layers           layers  cycles   share    util  macs/B  times "
                "bound\n"));
  EXPECT_THAT(toText(reportWith({{0, 0}, {6, -1}})), Not(HasSubstr("interleaved layers")));
}

TEST(FusedStacks, areToldInTheExplanation) {
  const Report report = interleaved();
  EXPECT_THAT(explain(report, report.layers[0]),
              HasSubstr("It runs interleaved with relu: together they take 90 cycles, "));
}

TEST(FusedStacks, comeBackFromJson) {
  const std::string written = toJson(interleaved());
  EXPECT_EQ(json::parse(written)["fused_stacks"][0]["layers"], json({0, 1}));
  EXPECT_EQ(toJson(fromJson("r.json", written)), written);
}

TEST(FusedStacks, ofOneLayerInJsonAreRefused) {
  json report = json::parse(toJson(interleaved()));
  report["fused_stacks"][0]["layers"] = {0};
  try {
    fromJson("r.json", report.dump());
    FAIL() << "read";
  } catch (const UserError &error) {
    EXPECT_THAT(error.diagnostic(),
                HasSubstr("r.json: error: 'fused_stacks[0].layers' does not have two layers\n"));
  }
}

} // namespace
