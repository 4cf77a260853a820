// Why a layer takes its cycles, in words.
#include "sample.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"
#include "tilewright/testing/plan_terms.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace {

std::string whyConv(const Report &report) { return explain(report, report.layers[0]); }

std::string messageOf(const Report &report, const std::string &layer) {
  try {
    explain("r.json", report, layer);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "";
}

TEST(Why, isThis) {
  Program program = sampleProgram();
  program.layers[0].plan = "2 steps of 8x8x16";
  program.layers[0].runnerUp = RunnerUp{"4 steps of 4x8x16", 95, 82};
  EXPECT_EQ(
      explain("r.json", sampleReport(program), "conv"),
      "conv (Conv) takes 70 cycles, 70.0 % of the run. At the machine's peaks its "
      "multiply-accumulates fill the array for 40 cycles (256 a cycle), and the 288 B that it has "
      "to move take DRAM 36 cycles (8 bytes a cycle): its bound is 40 cycles, set by "
      "the array. It takes 1.75 times its bound. It moves 288 B of the 600 B of its tensors: the "
      "rest stays on chip. In its own cycles the matrix unit works 57.1 % of the time, the vector "
      "unit 0.0 %, the DMA units 85.7 %, and none of them 0.0 %. So moving data is what limits it. "
      "Its instructions wait 20 cycles in all, counted in every unit on its own: the matrix unit "
      "waits for another unit for 20 cycles (100.0 %). The plan: 2 steps of 8x8x16. The compiler "
      "expected 80 cycles (+14.3 %). The next best plan was: 4 steps of 4x8x16. For the layer "
      "alone "
      "the compiler expected 95 cycles of it, and 82 cycles of the plan that it took.\n");
}

// Every sentence stands in docs/plan-terms.md.
TEST(Why, saysNothingThatPlanTermsLeaveOut) {
  const std::regex sentences = planTerms("Why", " ");
  EXPECT_FALSE(std::regex_match("It takes 2 cycles.", sentences));
  Program program = sampleProgram();
  program.layers[0].plan = "2 steps of 8x8x16";
  program.layers[0].runnerUp = RunnerUp{"4 steps of 4x8x16", 95, 82};
  std::vector<Report> reports(7, sampleReport(program));
  reports[1].layers[0].roofline.dramCycles = 140;
  reports[2].fusedStacks = {{{0, 1}, 90, 10240, 384, {0, 0, 0, 100}}};
  reports[3].fusedStacks = {{{0, 1}, 90, 10240, 384, {0, 0, 0, 80}}};
  reports[4].layers[0].roofline.needs.bytes = 144;
  reports[4].layers[0].waits.clear();
  reports[5].layers[0].roofline = {20, 5, 38, 36, {5120, 80, 5216, 288}};
  reports[6].layers[0].roofline = {};
  for (Limit limit : {Limit::Compute, Limit::Vector, Limit::Dram, Limit::Sync})
    reports.push_back(reports[0]), reports.back().layers[0].limitedBy = limit;
  for (const Report &report : reports)
    for (const Row &row : report.layers)
      EXPECT_TRUE(std::regex_match(explain(report, row), sentences)) << explain(report, row);
}

TEST(Why, saysThatAFullQueueIsNoReason) {
  RunRecord run = sampleRecord();
  run.trace[1].stalls[static_cast<int>(Stall::Semaphore)] = 0;
  run.trace[1].stalls[static_cast<int>(Stall::QueueFull)] = 20;
  EXPECT_THAT(whyConv(sampleReport(sampleProgram(), run)),
              HasSubstr("None of its instructions ever waits."));
}

TEST(Why, tellsEveryCauseInWords) {
  const std::pair<Stall, const char *> texts[] = {
      {Stall::Fetch, "the sequencer waits for instructions for"},
      {Stall::SpadPort, "the matrix unit loses a scratchpad port to another unit for"},
      {Stall::AccPort, "the matrix unit loses an accumulator port to another unit for"},
      {Stall::Dram, "the matrix unit waits for the DRAM for"},
      {Stall::Dependence, "the matrix unit waits for its own earlier work for"}};
  for (const auto &[cause, text] : texts) {
    RunRecord run = sampleRecord();
    run.trace[1].stalls[static_cast<int>(cause)] = 5;
    EXPECT_THAT(whyConv(sampleReport(sampleProgram(), run)),
                HasSubstr(std::string(text) + " 5 cycles (20.0 %)"));
  }
}

TEST(Why, namesFourWaitsAndAddsUpTheRest) {
  RunRecord run = sampleRecord();
  for (Stall cause : {Stall::Dram, Stall::Dependence, Stall::SpadPort, Stall::AccPort})
    run.trace[1].stalls[static_cast<int>(cause)] = 5;
  EXPECT_THAT(whyConv(sampleReport(sampleProgram(), run)),
              HasSubstr(", other causes take 5 cycles (12.5 %)."));
}

TEST(Why, namesWhatLimits) {
  Report report = sampleReport();
  const std::pair<Limit, const char *> texts[] = {
      {Limit::Compute, "So the matrix unit is what limits it."},
      {Limit::Vector, "So the vector unit is what limits it."},
      {Limit::Dram, "So moving data is what limits it."},
      {Limit::Sync, "So what limits it is waiting."}};
  for (const auto &[limit, text] : texts) {
    report.layers[0].limitedBy = limit;
    EXPECT_THAT(whyConv(report), HasSubstr(text));
  }
}

TEST(Why, saysThatTheVectorUnitMultiplies) {
  Report report = sampleReport();
  report.layers[0].roofline = {0, 640, 0, 36, {0, 10240, 0, 288}};
  EXPECT_THAT(whyConv(report), HasSubstr("the multiply-accumulates of the vector unit fill its "
                                         "lanes for 640 cycles (16 a cycle)"));
  EXPECT_THAT(whyConv(report), HasSubstr("its bound is 640 cycles, set by the vector unit."));
}

TEST(Why, saysThatWorkHidesUnderOtherLayers) {
  Report report = sampleReport();
  report.layers[0].roofline.dramCycles = 140;
  EXPECT_THAT(
      whyConv(report),
      HasSubstr("its bound is 140 cycles, set by the DRAM. It takes fewer cycles than that: "
                "some of its work is hidden, done in cycles that belong to other layers."));
}

TEST(Why, saysThatBothUnitsMultiply) {
  Report report = sampleReport();
  report.layers[0].roofline = {20, 0, 38, 36, {5120, 0, 5216, 288}};
  EXPECT_THAT(whyConv(report),
              HasSubstr("and all its multiply-accumulates, depthwise ones on either "
                        "unit, fill array and lanes together for 38 cycles (272 a cycle)"));
  EXPECT_THAT(whyConv(report),
              HasSubstr("its bound is 38 cycles, set by the array and the vector unit together."));
}

TEST(Why, saysThatWorkOfAFusedStackHides) {
  Report report = sampleReport();
  report.fusedStacks = {{{0, 1}, 90, 10240, 384, {0, 0, 0, 100}}};
  EXPECT_THAT(whyConv(report), HasSubstr("It runs interleaved with relu: together they take 90 "
                                         "cycles, fewer than their bound of 100 cycles, set by the "
                                         "DRAM, since some of their work is hidden in cycles of "
                                         "other layers."));
}

TEST(Why, saysThatTensorsComeMoreThanOnce) {
  Report report = sampleReport();
  report.layers[0].roofline.needs.bytes = 144;
  EXPECT_THAT(whyConv(report), HasSubstr("It moves 288 B, 2.00 times what it has to: the rest "
                                         "is tensors that come more than once, or parameters of "
                                         "channels."));
}

TEST(Why, ofALayerThatDoesNothing) {
  Report report = sampleReport();
  report.layers[0].roofline = {};
  report.layers[0].cycles = 0;
  EXPECT_THAT(whyConv(report), StartsWith("conv (Conv) takes 0 cycles, 0.0 % of the run. It has "
                                          "nothing to compute and nothing to move, so no peak of "
                                          "the machine bounds it."));
  EXPECT_THAT(whyConv(report), Not(HasSubstr("In its own cycles")));
}

TEST(Why, escapesNames) {
  Program program = sampleProgram();
  program.layers[0].name = "a\x1b[2J";
  EXPECT_THAT(whyConv(sampleReport(program)), StartsWith("a\\x1b[2J (Conv)"));
}

// relu became a part of conv; of its layer only the name is left.
Report withoutRelu() {
  Program program = sampleProgram();
  program.runs = {{0, 0}, {6, -1}};
  program.layers[1].plan = "not by itself: part of conv (Conv)";
  return sampleReport(program);
}

TEST(Why, saysWhereAnOperatorWithoutARowWent) {
  EXPECT_EQ(explain("r.json", withoutRelu(), "relu"),
            "relu (Relu) has no row of its own: part of conv (Conv).\n");
  EXPECT_THAT(explain("r.json", withoutRelu(), "rel"), StartsWith("relu (Relu) has no row"));
}

TEST(Why, aPartOfANameWillDo) {
  EXPECT_THAT(explain("r.json", sampleReport(), "con"), StartsWith("conv (Conv) takes"));
}

TEST(Why, explainsEveryLayerOfThatName) {
  Program program = sampleProgram();
  program.layers[1].name = "conv";
  EXPECT_THAT(explain("r.json", sampleReport(program), "conv"), HasSubstr("\n\nconv (Relu) takes"));
}

TEST(Why, refusesAnUnknownLayer) {
  EXPECT_EQ(messageOf(sampleReport(), "cnov"),
            "r.json: error: no layer is named 'cnov'\n  fix: did you mean 'conv'?");
  EXPECT_EQ(messageOf(sampleReport(), "something else"),
            "r.json: error: no layer is named 'something else'\n"
            "  fix: give a name from the table that `tilewright report` prints");
}

TEST(Why, refusesAPartOfSeveralNames) {
  Program program = sampleProgram();
  program.layers[0].name = "block1/conv";
  program.layers[1].name = "block1/relu";
  EXPECT_EQ(messageOf(sampleReport(program), "block1"),
            "r.json: error: 'block1' is part of the names of 2 layers\n"
            "  fix: give the whole name, such as 'block1/conv', 'block1/relu'");
}

TEST(Why, refusesARunWithoutTime) {
  Report report = sampleReport(sampleProgram(), RunRecord());
  report.options.engine = "functional";
  EXPECT_EQ(messageOf(report, "conv"),
            "r.json: error: the engine functional models no time, so there is none to explain\n"
            "  fix: run the program on the cycle engine");
}

} // namespace
