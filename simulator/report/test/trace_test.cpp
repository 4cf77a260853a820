// The trace that Perfetto opens.
#include "sample.h"
#include "tilewright/report/report.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;
using nlohmann::json;

namespace {

json events(const RunRecord &run = sampleRecord(), const Program &program = sampleProgram()) {
  return json::parse(report::toTrace(program, run, sampleIsa()))["traceEvents"];
}

std::map<int, std::string> trackNames(const json &all) {
  std::map<int, std::string> names;
  for (const json &event : all)
    if (event["ph"] == "M" && event["name"] == "thread_name")
      names[event["tid"]] = event["args"]["name"];
  return names;
}

TEST(Trace, hasATrackForEachUnitAtWork) {
  std::vector<std::string> names;
  for (const auto &[track, name] : trackNames(events()))
    names.push_back(name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"layers", "load", "matrix", "sequencer", "store", "vector"}));
}

TEST(Trace, hasASliceForEachInstruction) {
  json all = events();
  auto isSlice = [](const json &event) { return event["ph"] == "X" && event.contains("args"); };
  EXPECT_EQ(std::count_if(all.begin(), all.end(), isSlice), 7);
}

TEST(Trace, namesTheLayerOfAnInstruction) {
  for (const json &event : events())
    if (event["ph"] == "X" && event.contains("args") && event["args"]["pc"] == 5) {
      EXPECT_EQ(event["name"], "mmul");
      EXPECT_EQ(event["args"]["layer"], "relu");
      EXPECT_DOUBLE_EQ(event["ts"], 0.06); // cycle 60 at 1 GHz, in microseconds
      EXPECT_DOUBLE_EQ(event["dur"], 0.02);
      return;
    }
  FAIL() << "no slice of instruction 5";
}

TEST(Trace, slicesOfATrackDoNotOverlap) {
  RunRecord run = sampleRecord();
  run.trace[5] = record(5, 30, 80); // under the other product
  std::map<int, double> end;
  for (const json &event : events(run)) {
    if (event["ph"] != "X")
      continue;
    double start = event["ts"];
    EXPECT_GE(start + 1e-9, end[event["tid"]]);
    end[event["tid"]] = start + event["dur"].get<double>();
  }
}

TEST(Trace, givesOverlappingInstructionsAnotherTrack) {
  RunRecord run = sampleRecord();
  run.trace[5] = record(5, 30, 80);
  auto names = trackNames(events(run));
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](const auto &track) { return track.second == "matrix (2)"; }));
}

TEST(Trace, countersAddUpToTheBytes) {
  uint64_t read = 0, written = 0;
  for (const json &event : events())
    if (event["ph"] == "C") {
      read += event["args"]["read"].get<uint64_t>();
      written += event["args"]["write"].get<uint64_t>();
    }
  EXPECT_EQ(read, 256u);
  EXPECT_EQ(written, 128u);
}

TEST(Trace, keepsNamesOfAnyBytes) {
  Program program = sampleProgram();
  program.layers[0].name = "</script>\"\n\xff";
  bool seen = false;
  for (const json &event : events(sampleRecord(), program))
    seen |= event["ph"] == "X" && event["name"] == "</script>\"\n\xef\xbf\xbd";
  EXPECT_TRUE(seen);
}

TEST(Trace, ofNothingIsStillValid) { EXPECT_EQ(events(RunRecord(), Program()).size(), 2u); }

TEST(Trace, isTheSameEveryTime) {
  EXPECT_EQ(report::toTrace(sampleProgram(), sampleRecord(), sampleIsa()),
            report::toTrace(sampleProgram(), sampleRecord(), sampleIsa()));
}

} // namespace
