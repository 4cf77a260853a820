// ctest -R OverlayPaths: which values of a description an overlay can change.
#include "description.h"
#include "tilewright/isa/overlay_paths.h"
#include "tilewright/testing/source_path.h"

#include <gtest/gtest.h>

namespace tilewright::isa {

namespace {

std::string mistakeIn(const std::vector<std::string> &path) {
  LoadOptions options;
  options.target = "edge16";
  options.directory = sourcePath("isa");
  static const OverlayPaths paths(options);
  return diagnosticOf([&] { paths.check(path, {"e.yaml", 3, 5, ""}); });
}

} // namespace

TEST(OverlayPaths, AreKnown) {
  const std::vector<std::vector<std::string>> known = {
      {"target", "params", "rows"},
      {"target", "clock_hz"},
      {"target", "dram"},
      {"timing", "matrix", "inflight"},
      {"timing", "instructions", "vadd", "latency"}, // has none of its own
      {"machine", "params", "rows", "pow2"},
      {"machine", "units", "load", "queue"},
      {"machine", "memories", "dram", "banks"}, // need not stand there
      {"machine", "state", "vector", "n1", "reset"},
      {"dram", "parameters", "tCL_ps"},
      {"instructions", "vadd", "operands", "n0", "type"},
      {"instructions", "mmul", "semantics", "compose"}};
  for (const std::vector<std::string> &path : known) {
    const bool isList = path.back() == "compose";
    EXPECT_EQ(mistakeIn(path), isList ? "e.yaml:3:5: error: 'compose' is a list, not a value" : "")
        << path.back();
  }
}

TEST(OverlayPaths, OthersAreNamedWithTheNearest) {
  EXPECT_EQ(mistakeIn({"target", "params", "rowz"}),
            "e.yaml:3:5: error: there is no param 'rowz'\n  fix: did you mean 'rows'?");
  EXPECT_EQ(mistakeIn({"timing", "matrix", "inflite"}),
            "e.yaml:3:5: error: there is no key 'inflite' in 'matrix'\n  fix: did you mean "
            "'inflight'?");
  EXPECT_EQ(mistakeIn({"timing", "instructions", "vad", "latency"}),
            "e.yaml:3:5: error: there is no key 'vad' in 'instructions'\n  fix: did you mean "
            "'vadd'?");
  EXPECT_EQ(mistakeIn({"tming", "matrix"}),
            "e.yaml:3:5: error: there is no part of a description 'tming'\n  fix: did you mean "
            "'timing'?");
  EXPECT_EQ(mistakeIn({"instructions", "vabz", "summary"}),
            "e.yaml:3:5: error: there is no instruction 'vabz'\n  fix: did you mean 'vabs'?");
  EXPECT_EQ(mistakeIn({"machine", "units", "qqqqqqqq", "queue"}),
            "e.yaml:3:5: error: there is no key 'qqqqqqqq' in 'units'\n  fix: there are sequencer, "
            "load, store, matrix, vector");
}

TEST(OverlayPaths, MapsAreNoValues) {
  EXPECT_EQ(mistakeIn({"timing", "matrix"}),
            "e.yaml:3:5: error: 'matrix' is a map, not a value\n  fix: go on with one of pipeline, "
            "inflight");
  EXPECT_EQ(mistakeIn({"instructions"}),
            "e.yaml:3:5: error: 'instructions' is a map, not a value\n  fix: go on with an "
            "instruction's name");
  EXPECT_EQ(mistakeIn({"timing", "matrix", "inflight", "more"}),
            "e.yaml:3:5: error: 'inflight' is a value, in which there is no 'more'");
}

} // namespace tilewright::isa
