// ctest -R ExperimentCheck: what is refused before anything runs, with its place in the experiment.
#include "check.h"
#include "files.h"

namespace tilewright::explore {

namespace {

class ExperimentCheck : public test::FolderTest {
protected:
  void SetUp() override {
    test::FolderTest::SetUp();
    write("m.mlir", "");
    write("slow.yaml",
          "schema: tilewright/overlay/1\nname: slow\nsummary: s\n"
          "machine: { params: { extra: { default: 4, range: \"1..9\", summary: s } } }\n");
  }
  std::string mistake(const std::string &sections,
                      const std::string &base = "{ target: tiny4 }") const {
    return test::mistakeOf([&] {
      check(readExperiment(
          experiment("workloads: { m: { model: m.mlir } }\nbase: " + base + "\n" + sections)));
    });
  }
};

TEST_F(ExperimentCheck, TakesWhatIsThere) {
  EXPECT_EQ(mistake("overlays: { none: [ ], slow: [ slow.yaml ] }\n"
                    "parameters: { rows: { list: [ 4, 8 ] }, dram: { list: [ ideal ] },\n"
                    "              timing.matrix.inflight: { list: [ 4 ] },\n"
                    "              timing.instructions.vadd.latency: { range: \"4..6\" },\n"
                    "              cols: { value: \"rows\" } }"),
            "no mistake");
}

TEST_F(ExperimentCheck, NamesTheLineOfAMissingFile) {
  const std::string fix = " | paths are relative to the experiment's folder";
  EXPECT_EQ(mistake("overlays: { none: [ ],\n  gone: [ slow.yaml, gone.yaml ] }"),
            "7:22: there is no overlay " + folder_ + "/gone.yaml" + fix);
  EXPECT_EQ(mistake("", "{ target: tiny4, overlays: [ gone.yaml ] }"),
            "5:36: there is no overlay " + folder_ + "/gone.yaml" + fix);
  EXPECT_EQ(mistake("", "{ target: gone.yaml }"),
            "5:17: there is no target " + folder_ + "/gone.yaml" + fix);
  EXPECT_EQ(mistake("technology: gone.yaml"),
            "6:13: there is no technology " + folder_ + "/gone.yaml" + fix);
  const std::string base = "base: { target: tiny4 }\n";
  EXPECT_EQ(test::mistakeOf([&] {
              check(readExperiment(experiment("workloads: { m: { model: gone.onnx } }\n" + base)));
            }),
            "4:26: there is no model " + folder_ + "/gone.onnx" + fix);
  EXPECT_EQ(test::mistakeOf([&] {
              check(readExperiment(experiment(
                  "workloads: { m: { model: m.mlir, calibration: gone.npz } }\n" + base)));
            }),
            "4:47: there is no calibration file " + folder_ + "/gone.npz" + fix);
}

TEST_F(ExperimentCheck, NamesTheLineOfAnUnknownTarget) {
  EXPECT_EQ(mistake("", "{ target: tiny5 }"),
            "5:17: there is no target 'tiny5' | did you mean 'tiny4'?");
}

TEST_F(ExperimentCheck, NamesUnknownParameters) {
  EXPECT_EQ(mistake("parameters: { rows: { list: [ 4 ] }, colz: { list: [ 4 ] } }"),
            "6:38: there is no param 'colz' | did you mean 'cols'?");
  EXPECT_EQ(mistake("parameters: { rows: { list: [ 4 ] }, colz: { value: \"rows\" } }"),
            "6:38: there is no param 'colz' | did you mean 'cols'?");
  EXPECT_EQ(mistake("parameters: { timing.matrix.inflite: { list: [ 4 ] } }"),
            "6:15: there is no key 'inflite' in 'matrix' | did you mean 'inflight'?");
}

// A param that an overlay of one list adds is known.
TEST_F(ExperimentCheck, TakesWhatOneListOfOverlaysKnows) {
  const std::string parameter = "parameters: { extra: { list: [ 4 ] } }";
  EXPECT_EQ(mistake("overlays: { none: [ ], slow: [ slow.yaml ] }\n" + parameter), "no mistake");
  EXPECT_EQ(mistake(parameter).substr(0, 36), "6:15: there is no param 'extra' | th");
}

TEST_F(ExperimentCheck, NamesAMistakeInAnOverlayThere) {
  write("bad.yaml", "schema: tilewright/overlay/1\nname: bad\nsummary: s\ntimign: { }\n");
  EXPECT_EQ(mistake("overlays: { bad: [ bad.yaml ] }"),
            "4:1: unknown key 'timign' in the overlay file | did you mean 'timing'?");
}

TEST_F(ExperimentCheck, RefusesTooManySettingsAndNone) {
  EXPECT_EQ(mistake("parameters: { rows: { range: \"1..256\" }, spad_bytes: { range: "
                    "\"1024..99999\" }, acc_bytes: { range: \"1024..99999\" } }"),
            "6:15: the grid has 2507839635456 settings, more than 1000000 | draw some: search: { "
            "kind: random, points: 1000 }");
  for (const char *search :
       {"grid", "guided, points: 9", "random, points: 9", "random, points: 9, screen: 1000000"})
    EXPECT_EQ(mistake("parameters: { rows: { range: \"1..256\" }, cols: { range: \"1..256\" } }\n"
                      "conditions: { C1: \"rows > cols + 256\" }\nsearch: { kind: " +
                      std::string(search) + " }"),
              "7:19: the conditions leave no setting")
        << search;
}

} // namespace

} // namespace tilewright::explore
