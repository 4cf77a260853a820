// The figures of a report, and the forms in which it is printed.
#include "tilewright/isa/assembler.h"
#include "tilewright/report/report.h"

#include "sample.h"

#include "tilewright/simulator/engine/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

TEST(Report, layersAddUpToTheCycles) {
  Report report = sampleReport();
  int64_t sum = report.none.cycles;
  for (const Row &row : report.layers)
    sum += row.cycles;
  EXPECT_EQ(sum, report.cycles);
}

TEST(Report, kernelsOfOneLayerShareARow) {
  Program program = sampleProgram();
  program.layers[1].name = program.layers[0].name;
  program.layers[1].op = program.layers[0].op;
  program.layers[0].plan = "of the product";
  program.layers[1].plan = "of the rest";
  Report apart = sampleReport(), report = sampleReport(program);
  ASSERT_EQ(report.layers.size(), 1u);
  const Row &row = report.layers[0];
  EXPECT_EQ(row.kernels, 2);
  EXPECT_EQ(row.cycles, apart.layers[0].cycles + apart.layers[1].cycles);
  EXPECT_THAT(cyclesOfLayers(program, spansOf(sampleRecord()), sampleIsa()),
              ElementsAre(apart.layers[0].cycles, apart.layers[1].cycles));
  EXPECT_EQ(row.estimateCycles, 80);
  EXPECT_EQ(row.inputBytes, 110);
  EXPECT_EQ(row.plan, "of the product");
  EXPECT_EQ(report.estimateCycles, apart.estimateCycles);
}

TEST(Report, namesTheOverlaysOnTheTarget) {
  Program program = sampleProgram();
  program.overlays = {"wide.yaml", "odd\n.yaml"};
  Report report = sampleReport(program);
  EXPECT_THAT(toText(report), HasSubstr("p.elf on edge16 + wide.yaml + odd\\x0a.yaml ("));
  EXPECT_EQ(json::parse(toJson(report))["overlays"], json({"wide.yaml", "odd\n.yaml"}));
}

TEST(Report, unitsAddUpToTheCycles) {
  for (const UnitRow &unit : sampleReport().units) {
    int64_t sum = unit.busy + unit.idle;
    for (int64_t stall : unit.stalls)
      sum += stall;
    EXPECT_EQ(sum, 100) << unit.name;
  }
}

TEST(Report, conservesBytes) {
  Report report = sampleReport();
  uint64_t read = report.none.dramReadBytes, written = report.none.dramWriteBytes;
  for (const Row &row : report.layers) {
    read += row.dramReadBytes;
    written += row.dramWriteBytes;
  }
  EXPECT_EQ(read, report.dramReadBytes);
  EXPECT_EQ(written, report.dramWriteBytes);
}

TEST(Report, countsTheCyclesOfEachLayer) {
  Report report = sampleReport();
  EXPECT_EQ(report.layers[0].cycles, 70);
  EXPECT_EQ(report.layers[1].cycles, 20);
  EXPECT_EQ(report.none.cycles, 10);
}

TEST(Report, utilizationIsAFractionOfTheArraysPeak) {
  Report report = sampleReport();
  EXPECT_DOUBLE_EQ(report.utilization, 10240.0 / (100 * 256));
  EXPECT_DOUBLE_EQ(*report.layers[0].utilization, 10240.0 / (70 * 256));
}

TEST(Report, utilizationOfNoCyclesIsZero) {
  RunRecord run;
  EXPECT_EQ(sampleReport(sampleProgram(), run).utilization, 0);
}

Limit limitOf(std::vector<InstructionRecord> trace, int64_t cycles) {
  RunRecord run;
  run.cycles = cycles;
  run.trace = std::move(trace);
  return sampleReport(sampleProgram(), run).layers[0].limitedBy;
}

TEST(Report, limitedByCompute) {
  EXPECT_EQ(limitOf({record(0, 0, 4), record(1, 0, 10)}, 10), Limit::Compute);
}
TEST(Report, limitedByVector) {
  EXPECT_EQ(limitOf({record(1, 0, 2), record(2, 2, 10)}, 10), Limit::Vector);
}
TEST(Report, limitedByDram) {
  EXPECT_EQ(limitOf({record(0, 0, 8), record(1, 8, 10)}, 10), Limit::Dram);
}
TEST(Report, limitedBySync) {
  EXPECT_EQ(limitOf({record(0, 0, 1), record(1, 9, 10)}, 10), Limit::Sync);
}
TEST(Report, limitedByNothingWithoutCycles) { EXPECT_EQ(limitOf({}, 0), Limit::None); }

TEST(Report, estimateErrorIsRelativeToTheSimulation) {
  EXPECT_DOUBLE_EQ(*estimateError(80, 100), -0.2);
  EXPECT_FALSE(estimateError(0, 100));
  EXPECT_FALSE(estimateError(80, 0));
}

TEST(ReportText, isThis) {
  Report report = sampleReport();
  report.isaHash = "0123456789abcdef";
  EXPECT_EQ(toText(report),
            R"(p.elf on edge16 (tilewright-reference 1.0, hash 0123456789ab), engine cycle
  cycles       100 (0.100 us at 1,000 MHz), estimate 80 (-20.0 %)
  macs         10,240, utilization 40.0 % of 256 a cycle
  instructions 7
  dram         read 256 B (weights 220 B once), write 128 B, instruction fetch 112 B (22.6 %)
               lpddr4: 90.0 % row hits, 0 refreshes
  memory       scratchpad 2.00 KiB of 256 KiB, accumulators 1.00 KiB of 64.0 KiB (planned peak)

layer   op              cycles    share    util  limited by  macs/B  times bound     read  write  estimate    error  stalls (most)
------  --------------  ------  -------  ------  ----------  ------  -------------  -----  -----  --------  -------  -------------------
conv    Conv                70   70.0 %  57.1 %  dram          35.6  1.75x compute  160 B  128 B        80  +14.3 %  matrix semaphore 20
relu    Relu                20   20.0 %       -  compute          -  2.50x dram      96 B    0 B         -        -  -
(none)  set-up and end      10   10.0 %       -  sync             -  -                0 B    0 B         -        -  -
------  --------------  ------  -------  ------  ----------  ------  -------------  -----  -----  --------  -------  -------------------
total                      100  100.0 %  40.0 %  -             26.7  2.50x compute  256 B  128 B        80  -20.0 %  matrix semaphore 20

unit         busy     idle  semaphore
---------  ------  -------  ---------
sequencer   0.0 %  100.0 %      0.0 %
load       50.0 %   50.0 %      0.0 %
store       0.0 %  100.0 %      0.0 %
matrix     60.0 %   20.0 %     20.0 %
vector      0.0 %  100.0 %      0.0 %

unit    waits for  cause      cycles   share
------  ---------  ---------  ------  ------
matrix  -          semaphore      20  20.0 %
)");
}

// A layer without instructions that says whose part it is.
Report withoutRelu() {
  Program program = sampleProgram();
  program.runs = {{0, 0}, {6, -1}};
  program.layers[1].plan = "not by itself: part of conv (Conv)";
  return sampleReport(program);
}

TEST(ReportText, countsOperatorsWithoutARow) {
  EXPECT_THAT(toText(withoutRelu()),
              testing::AllOf(HasSubstr("\n  operators    1 of the model have no row of their own: "
                                       "`report --why NAME` says whose they are in\n"),
                             testing::Not(HasSubstr("\nrelu "))));
}

TEST(ReportJson, tellsWhereOperatorsWithoutARowWent) {
  const std::string written = toJson(withoutRelu());
  EXPECT_EQ(json::parse(written)["layers"].size(), 2u); // conv, and what belongs to none
  EXPECT_EQ(json::parse(written)["operators"],
            (json{{{"name", "relu"}, {"op", "Relu"}, {"where", "part of conv (Conv)"}}}));
  EXPECT_EQ(toJson(fromJson("r.json", written)), written);
}

TEST(ReportText, givesAreaAndEnergyAndWhatTheyAre) {
  Report report = sampleReport();
  report.costs = Costs{"45nm", 1.25, {{"dram", 3e-3}, {"macs", 1e-3}, {"leakage", 0}}};
  EXPECT_THAT(toText(report),
              HasSubstr("\n  cost         area 1.250 mm2, energy 4.000 mJ (dram 75.0 %, macs 25.0 "
                        "%)\n               by formula, with the figures of technology 45nm: to "
                        "compare machines with, not to expect of silicon\n"));
}

TEST(ReportText, givesEnergyInAUnitThatFits) {
  const std::pair<double, const char *> sizes[] = {
      {2.5e-3, "2.500 mJ"}, {2.5e-6, "2.500 uJ"}, {2.5e-9, "2.500 nJ"}};
  for (const auto &[joules, text] : sizes) {
    Report report = sampleReport();
    report.costs = Costs{"45nm", 1.25, {{"dram", joules}}};
    EXPECT_THAT(toText(report), HasSubstr(std::string(", energy ") + text + " (dram 100.0 %)"));
  }
}

TEST(ReportText, givesTheAreaAloneWithoutTime) {
  Report report = sampleReport();
  report.costs = Costs{"45nm", 1.25, {}};
  EXPECT_THAT(toText(report), HasSubstr("\n  cost         area 1.250 mm2\n"));
}

TEST(ReportText, namesWorkThatHidesUnderOtherLayers) {
  Program program = sampleProgram();
  program.layers[0].macs = 256 * 71; // in 70 cycles
  EXPECT_THAT(
      toText(sampleReport(program)),
      HasSubstr(
          "conv    Conv                70   70.0 %       -  dram          63.1  hidden compute "));
}

TEST(ReportText, saysThatTheEstimateIsForOtherTiming) {
  Program program = sampleProgram();
  program.timingHash = "another";
  EXPECT_THAT(toText(sampleReport(program)),
              HasSubstr(", estimate 80 (-20.0 %, for other timing than this run's)\n"));
}

TEST(ReportText, leavesOutAnEstimateThatWasNotMade) {
  Program program = sampleProgram();
  program.layers[0].estimateCycles = 0;
  EXPECT_THAT(toText(sampleReport(program)),
              HasSubstr("  cycles       100 (0.100 us at 1,000 MHz)\n"));
}

TEST(ReportText, saysThatTheRunWasStopped) {
  RunRecord run = sampleRecord();
  run.stopped = true;
  EXPECT_THAT(
      toText(sampleReport(sampleProgram(), run)),
      HasSubstr("  stopped      the limit ended the run: the figures are those of a part\n"));
}

TEST(Report, CountsOnlyTheMacsOfFinishedLayersWhenStopped) {
  RunRecord run = sampleRecord();
  const Report whole = sampleReport(sampleProgram(), run);
  run.stopped = true;
  run.trace.resize(1);
  EXPECT_GT(whole.macs, 0);
  EXPECT_EQ(sampleReport(sampleProgram(), run).macs, 0);
}

TEST(Report, ALayerInALoopIsFinishedWithItsLastTrip) {
  Program program = sampleProgram();
  program.code.clear();
  for (const isa::DecodedInstruction &each :
       isa::assemble(sampleIsa(),
                     "loop count=2, length=1\nmmul a=0, d=0, n1=1, n0=1, k=1, n=1, accumulate=0, "
                     "swap=0\nxadd rd=x1, rs=x1, value=1\nhalt\n",
                     "test.s")) {
    const isa::Bits bits = sampleIsa().encode(each);
    program.code.append(bits.begin(), bits.end());
  }
  program.runs = {{0, 0}, {3, -1}};
  RunRecord run = sampleRecord();
  run.stopped = true;
  run.trace = {record(0, 0, 1), record(1, 2, 9)};
  EXPECT_EQ(sampleReport(program, run).macs, 0);
  run.trace.push_back(record(1, 9, 16));
  EXPECT_GT(sampleReport(program, run).macs, 0);
}

TEST(ReportText, saysWhichInputsAreRandom) {
  Report report = sampleReport();
  report.options.randomInputs = {"image"};
  report.options.seed = 7;
  EXPECT_THAT(toText(report), HasSubstr("  random data  image (seed 7)\n"));
}

TEST(ReportText, saysThatCyclesAreNotModeled) {
  Report report = sampleReport(sampleProgram(), RunRecord());
  report.options.engine = "functional";
  EXPECT_THAT(toText(report), HasSubstr("  cycles       not modeled by engine functional\n"));
}

TEST(ReportText, keepsTheEndOfALongName) {
  Program program = sampleProgram();
  program.layers[0].name = "/model/backbone/layer1/block0/conv1/Conv";
  EXPECT_THAT(lines(toText(sampleReport(program), 80))[10],
              testing::StartsWith("...k0/conv1/Conv  Conv"));
}

TEST(ReportText, escapesControlCharacters) {
  Program program = sampleProgram();
  program.layers[0].name = "a\x1b[2Jb\n";
  EXPECT_THAT(toText(sampleReport(program)), HasSubstr("a\\x1b[2Jb\\x0a "));
}

TEST(ReportText, alignsNamesOfSeveralBytesACharacter) {
  Program program = sampleProgram();
  program.layers[0].name = "größe";
  program.layers[1].name = "grosse";
  auto text = lines(toText(sampleReport(program)));
  EXPECT_EQ(text[10].find("Conv"), text[11].find("Relu") + 2); // two characters of two bytes
}

TEST(ReportText, printsCountersPast32Bits) {
  RunRecord run;
  run.cycles = int64_t(1) << 40;
  EXPECT_THAT(toText(sampleReport(sampleProgram(), run)),
              HasSubstr("cycles       1,099,511,627,776 "));
}

TEST(ReportJson, hasTheKeysThatScriptsRelyOn) {
  Report report = sampleReport();
  report.host = Host{0.5, 1000};
  json parsed = json::parse(toJson(report));
  for (const char *key : {"schema", "program", "target", "isa_hash", "engine", "clock_hz", "cycles",
                          "macs", "utilization", "dram_read_bytes", "dram_write_bytes", "layers",
                          "memory", "wall_seconds", "peak_rss_bytes", "cycles_per_second"})
    EXPECT_TRUE(parsed.contains(key)) << key;
  for (const char *key : {"name", "op", "cycles", "macs", "utilization", "limited_by",
                          "dram_read_bytes", "dram_write_bytes", "estimate_cycles", "stalls"})
    EXPECT_TRUE(parsed["layers"][0].contains(key)) << key;
  for (const char *key : {"scratchpad_peak_bytes", "accumulator_peak_bytes"})
    EXPECT_TRUE(parsed["memory"].contains(key)) << key;
  EXPECT_EQ(parsed["schema"], "tilewright/report/3");
}

TEST(ReportJson, layersAddUpToTheCycles) {
  json parsed = json::parse(toJson(sampleReport()));
  int64_t sum = 0;
  for (const json &layer : parsed["layers"])
    sum += layer["cycles"].get<int64_t>();
  EXPECT_EQ(sum, parsed["cycles"]);
}

TEST(ReportJson, hasNoHostFiguresUnlessMeasured) {
  json parsed = json::parse(toJson(sampleReport()));
  for (const char *key : {"wall_seconds", "peak_rss_bytes", "cycles_per_second"})
    EXPECT_FALSE(parsed.contains(key)) << key;
}

TEST(ReportJson, givesCyclesPerSecondOfTheHost) {
  Report report = sampleReport();
  report.host = Host{0.5, 1000};
  EXPECT_EQ(json::parse(toJson(report))["cycles_per_second"], 200);
}

TEST(ReportJson, hasNoQuotientsOfHiddenWork) {
  Program program = sampleProgram();
  program.layers[0].macs = 256 * 71;
  const json layer = json::parse(toJson(sampleReport(program)))["layers"][0];
  EXPECT_TRUE(layer["utilization"].is_null());
  EXPECT_TRUE(layer["roofline"]["times_bound"].is_null());
}

TEST(ReportJson, givesAreaAndEnergy) {
  Report report = sampleReport();
  EXPECT_FALSE(json::parse(toJson(report)).contains("costs"));
  report.costs = Costs{"45nm", 1.25, {{"dram", 3.0}, {"macs", 1.0}}};
  const std::string written = toJson(report);
  EXPECT_EQ(json::parse(written)["costs"],
            (json{{"technology", "45nm"},
                  {"area_mm2", 1.25},
                  {"energy_joules", {{"total", 4.0}, {"dram", 3.0}, {"macs", 1.0}}}}));
  EXPECT_EQ(toJson(fromJson("r.json", written)), written);
}

TEST(ReportJson, givesStallsByCause) {
  EXPECT_EQ(json::parse(toJson(sampleReport()))["layers"][0]["stalls"]["semaphore"], 20);
}

TEST(ReportJson, keepsNamesOfAnyBytes) {
  Program program = sampleProgram();
  program.layers[0].name = "</script>\"\n\xff";
  EXPECT_EQ(json::parse(toJson(sampleReport(program)))["layers"][0]["name"],
            "</script>\"\n\xef\xbf\xbd");
}

TEST(ReportJson, isTheSameEveryTime) { EXPECT_EQ(toJson(sampleReport()), toJson(sampleReport())); }

} // namespace
