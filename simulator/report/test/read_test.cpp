// Reports read back from their JSON.
#include "sample.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using nlohmann::json;

namespace {

Report fullReport() {
  Options options;
  options.program = "p.elf";
  options.engine = "cycle";
  options.randomInputs = {"x"};
  options.seed = 7;
  Program program = sampleProgram();
  program.overlays = {"wide.yaml"};
  program.layers[0].plan = "2 steps";
  program.layers[0].runnerUp = RunnerUp{"3 steps", 90, 80};
  program.inputs = {{"x", DType::I8, {16}, 0, {}, 0}};
  RunRecord run = sampleRecord();
  run.bankConflicts.assign(sampleIsa().units().size(),
                           std::vector<int64_t>(sampleIsa().units().size(), 3));
  Report report = build(program, run, sampleIsa(), options);
  addDrawings(report, program, run, sampleIsa());
  report.host = Host{0.5, 1000};
  return report;
}

TEST(Read, givesBackTheWholeReport) {
  const std::string written = toJson(fullReport());
  const Report report = fromJson("r.json", written);
  EXPECT_EQ(toJson(report), written);
  EXPECT_EQ(toText(report), toText(fullReport()));
  EXPECT_EQ(toCsv(report), toCsv(fullReport()));
  EXPECT_EQ(toHtml(report), toHtml(fullReport()));
}

TEST(Read, needsNoDrawingsNorHost) {
  Report report = fullReport();
  report.timeline.reset();
  report.memoryMap.reset();
  report.host.reset();
  EXPECT_EQ(toJson(fromJson("r.json", toJson(report))), toJson(report));
}

std::string messageOf(const std::string &text) {
  try {
    fromJson("r.json", text);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "";
}

// Of the sample with the value at a JSON pointer replaced.
std::string messageWith(const std::string &where, const json &value) {
  json report = json::parse(toJson(fullReport()));
  report[json::json_pointer(where)] = value;
  return messageOf(report.dump());
}

const std::string fix = "\n  fix: give what `tilewright run --json` of this version writes";

TEST(Read, refusesWhatIsNoJson) {
  EXPECT_EQ(messageOf("{\"schema\": }"), "r.json: error: is not JSON: mistake at byte 12");
}
TEST(Read, refusesDeepNesting) {
  EXPECT_EQ(messageOf(std::string(100000, '[')),
            "r.json: error: the JSON is nested more than 8 deep");
}
TEST(Read, refusesANumberPastDouble) {
  EXPECT_EQ(messageOf("{\"schema\": 1e999}"),
            "r.json: error: holds a number that no double can hold");
}
TEST(Read, refusesWhatIsNoObject) {
  EXPECT_EQ(messageOf("[]"), "r.json: error: the report is not an object" + fix);
}
TEST(Read, refusesAMissingKey) {
  EXPECT_EQ(messageOf("{}"), "r.json: error: the report lacks 'schema'" + fix);
  EXPECT_EQ(messageWith("/layers/0", json::object()),
            "r.json: error: 'layers[0]' lacks 'name'" + fix);
}
TEST(Read, refusesAnotherSchema) {
  EXPECT_EQ(messageWith("/schema", "tilewright/report/9\n"),
            "r.json: error: 'schema' is 'tilewright/report/9\\x0a', not 'tilewright/report/3'" +
                fix);
}
TEST(Read, refusesOtherTypes) {
  EXPECT_EQ(messageWith("/program", 3), "r.json: error: 'program' is not a string" + fix);
  EXPECT_EQ(messageWith("/stopped", 0), "r.json: error: 'stopped' is not true or false" + fix);
  EXPECT_EQ(messageWith("/layers", 3), "r.json: error: 'layers' is not an array" + fix);
  EXPECT_EQ(messageWith("/utilization", "1"), "r.json: error: 'utilization' is not a number" + fix);
  EXPECT_EQ(messageWith("/cycles", 1.5), "r.json: error: 'cycles' is not a whole number" + fix);
  EXPECT_EQ(messageWith("/cycles", UINT64_MAX),
            "r.json: error: 'cycles' is not a whole number" + fix);
  EXPECT_EQ(messageWith("/instructions", -1),
            "r.json: error: 'instructions' is not a whole number" + fix);
}
TEST(Read, refusesNumbersOutOfRange) {
  EXPECT_EQ(messageWith("/layers/1/cycles", -1),
            "r.json: error: 'layers[1].cycles' is -1, which is not from 0 to 1125899906842624" +
                fix);
  EXPECT_EQ(messageWith("/timeline/lanes/0/segments/0/2", 2),
            "r.json: error: 'timeline.lanes[0].segments[0][2]' is 2, which is not from -1 to 1" +
                fix);
  EXPECT_EQ(messageWith("/timeline/lanes/0/segments/0/1", 101),
            "r.json: error: 'timeline.lanes[0].segments[0][1]' is 101, which is not from 0 to 100" +
                fix);
}
TEST(Read, refusesNumbersWhoseSumsWouldOverflow) {
  EXPECT_EQ(messageWith("/layers/0/macs", INT64_MAX),
            "r.json: error: 'layers[0].macs' is 9223372036854775807, which is not from 0 to "
            "1125899906842624" +
                fix);
}
TEST(Read, refusesOtherCounts) {
  EXPECT_EQ(messageWith("/timeline/lanes/0/segments/0", {1, 2}),
            "r.json: error: 'timeline.lanes[0].segments[0]' does not have four numbers" + fix);
  EXPECT_EQ(messageWith("/memory_map/spaces/1/live_ranges/0", {1, 2}),
            "r.json: error: 'memory_map.spaces[1].live_ranges[0]' does not have six numbers" + fix);
}
TEST(Read, refusesUnknownUnitsAndCauses) {
  EXPECT_EQ(messageWith("/layers/0/waits/0/unit", "tensor"),
            "r.json: error: 'layers[0].waits[0].unit' names no unit: 'tensor'" + fix);
  EXPECT_EQ(messageWith("/layers/0/waits/0/cause", "boredom"),
            "r.json: error: 'layers[0].waits[0].cause' is no cause of stalls: 'boredom'" + fix);
}

} // namespace
