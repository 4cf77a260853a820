// ctest -R Experiment: experiment files, and every mistake in one, with its place.
#include "files.h"
#include "tilewright/testing/source_path.h"

#include <gmock/gmock.h>

namespace tilewright::explore {

using ::testing::ElementsAre;

namespace {

const char *const head = "workloads: { m: { model: \"m.onnx\" } }\nbase: { target: \"edge16\" }\n";

class ExperimentFile : public test::FolderTest {
protected:
  Experiment read(const std::string &sections) const {
    return readExperiment(experiment(head + sections));
  }
  std::string mistake(const std::string &sections) const {
    return test::mistakeOf([&] { read(sections); });
  }
  std::string mistakeOfAll(const std::string &sections) const {
    return test::mistakeOf([&] { readExperiment(experiment(sections)); });
  }
};

TEST_F(ExperimentFile, HasDefaults) {
  const Experiment experiment = read("");
  EXPECT_EQ(experiment.workloads.at(0).model, folder_ + "/m.onnx");
  EXPECT_EQ(experiment.workloads.at(0).precision, "standard");
  EXPECT_EQ(experiment.target, "edge16");
  ASSERT_EQ(experiment.overlayLists.size(), 1u);
  EXPECT_EQ(experiment.overlayLists[0].name, "none");
  EXPECT_EQ(experiment.sampling, Sampling::Grid);
  EXPECT_TRUE(experiment.isSimulated);
  EXPECT_EQ(experiment.check, Check::Functional);
  EXPECT_EQ(experiment.objectives.size(), 3u);
  EXPECT_EQ(experiment.limits.seconds, 600);
}

TEST_F(ExperimentFile, SaysAllOfIt) {
  const Experiment experiment = readExperiment(this->experiment(R"(
workloads:
  a: { model: "m.onnx", calibration: "c.npz", precision: "extended", shapes: { x: ["1", "3"] } }
  b: { network: "resnet18" }
base: { target: "t.yaml", overlays: ["o.yaml"] }
overlays: { none: [], two: ["p.yaml", "/q.yaml"] }
parameters:
  rows: { list: ["8", "12"] }
  cols: { range: "4..12", step: "4" }
  spad_bytes: { range: "1024..5000", factor: "2" }
  timing.matrix.inflight: { list: ["4"] }
  acc_bytes: { value: "rows * 1024" }
conditions: { C1: "rows < cols" }
search: { kind: "random", points: "3", seed: "7" }
tier: "analytical"
check: "rtl"
objectives: ["energy", "latency"]
limits: { seconds: "5", mebibytes: "100" }
technology: "t7.yaml"
)"));
  EXPECT_EQ(experiment.workloads[0].calibration, folder_ + "/c.npz");
  EXPECT_THAT(experiment.workloads[0].shapes.at("x"), ElementsAre(1, 3));
  EXPECT_EQ(experiment.workloads[1].network, "resnet18");
  EXPECT_EQ(experiment.target, folder_ + "/t.yaml");
  EXPECT_THAT(experiment.overlays, ElementsAre(folder_ + "/o.yaml"));
  EXPECT_THAT(experiment.overlayLists.at(1).files, ElementsAre(folder_ + "/p.yaml", "/q.yaml"));
  EXPECT_THAT(experiment.parameters.at(1).values, ElementsAre("4", "8", "12"));
  EXPECT_THAT(experiment.parameters.at(2).values, ElementsAre("1024", "2048", "4096"));
  EXPECT_EQ(experiment.derived.at(0).name, "acc_bytes");
  EXPECT_EQ(experiment.conditions.at(0).label, "C1");
  EXPECT_EQ(experiment.sampling, Sampling::Random);
  EXPECT_EQ(experiment.points, 3);
  EXPECT_EQ(experiment.seed, 7u);
  EXPECT_FALSE(experiment.isSimulated);
  EXPECT_EQ(experiment.check, Check::Rtl);
  EXPECT_THAT(experiment.objectives, ElementsAre(Objective::Latency, Objective::Energy));
  EXPECT_EQ(experiment.limits.mebibytes, 100);
  EXPECT_EQ(experiment.technology, folder_ + "/t7.yaml");
}

TEST_F(ExperimentFile, RefusesMistakesAtTheirPlace) {
  const std::pair<const char *, const char *> mistakes[] = {
      {"serach: {}", "6:1: unknown key 'serach' in the experiment file | did you mean 'search'?"},
      {"limits: { seconds: \"0\" }", "6:20: '0' is not a whole number within 1..1000000"},
      {"limits: { seconds: \"5s\" }", "6:20: '5s' is not a whole number within 1..1000000"},
      {"parameters: { rows: { range: \"8\" } }",
       "6:30: the range '8' is not of the form \"8..32\""},
      {"parameters: { rows: { range: \"1..8\", step: \"1\", factor: \"2\" } }",
       "6:57: a range has a step or a factor, not both"},
      {"parameters: { rows: { range: \"9..8\" } }", "6:30: the range '9..8' has no values"},
      {"parameters: { rows: { range: \"0..8\", factor: \"2\" } }",
       "6:30: the range '0..8' has no values"},
      {"parameters: { rows: { range: \"1..9000000000000000000\" } }",
       "6:30: the range '1..9000000000000000000' has more than 100000 values"},
      {"parameters: { rows: { } }",
       "6:21: the parameter 'rows' needs one of list, range and value"},
      {"parameters: { rows: { list: [\"1\"], value: \"2\" } }",
       "6:21: the parameter 'rows' needs one of list, range and value"},
      {"parameters: { Rows: { list: [\"1\"] } }",
       "6:15: 'Rows' is no name of a parameter | write a param of the machine, or a place in an "
       "overlay such as timing.matrix.inflight"},
      {"parameters: { rows: { list: [\"1\"], step: \"2\" } }",
       "6:42: 'step' has no effect without a range"},
      {"parameters: { rows: { list: [] } }", "6:29: the parameter 'rows' has no values"},
      {"parameters: { rows: { list: [\"1\", \"1\"] } }",
       "6:29: the parameter 'rows' has a value twice"},
      {"parameters: { timing.a: { list: [\"1\"] }, timing.a.b: { list: [\"1\"] } }",
       "6:42: the parameter 'timing.a.b' is a part of 'timing.a'"},
      {"search: { kind: \"random\" }", "6:9: a random search needs the number of its points"},
      {"search: { kind: \"grid\", points: \"5\" }",
       "6:33: 'points' has no effect on a grid, which has all"},
      {"search: { kind: \"guided\", points: \"5\", screen: \"50\" }",
       "6:48: 'screen' has an effect on a random search alone"},
      {"search: { kind: \"random\", points: \"5\", screen: \"4\" }",
       "6:48: '4' is not a whole number within 5..1000000"},
      {"objectives: []", "6:13: there is no objective"},
  };
  for (const auto &[sections, expected] : mistakes)
    EXPECT_EQ(mistake(sections), expected) << sections;
}

TEST_F(ExperimentFile, RefusesMistakesInWorkloads) {
  const std::string base = "base: { target: \"edge16\" }\n";
  EXPECT_EQ(mistakeOfAll("workloads: {}\n" + base), "4:12: there is no workload");
  EXPECT_EQ(mistakeOfAll("workloads: { m: {} }\n" + base),
            "4:17: the workload 'm' needs a network or a model, one of the two");
  EXPECT_EQ(
      mistakeOfAll("workloads: { m: { network: \"vgg16\", calibration: \"c.npz\" } }\n" + base),
      "4:50: 'calibration' has no effect on a network of models/synthetic");
}

// Files in explore/schema are written by `tilewright explore schemas explore/schema`.
TEST(ExperimentSchema, IsFresh) {
  const std::string folder = sourcePath("explore/schema/");
  EXPECT_EQ(readFile(folder + "experiment.json"), experimentSchema());
  EXPECT_EQ(readFile(folder + "technology.json"), technologySchema());
}

TEST(ShippedExperiments, AreRead) {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(sourcePath("explore/experiments"))) {
    EXPECT_EQ(readExperiment(entry.path().string()).name, entry.path().stem().string());
    ++count;
  }
  EXPECT_GE(count, 4u);
}

} // namespace

} // namespace tilewright::explore
