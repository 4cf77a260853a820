// `explore` as a user meets it: a sweep from the command line, its folder, mistakes.
#include "tool.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Explore : public test::ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    writeConvolution();
  }
  void writeExperiment(const std::string &more) const {
    write("e.yaml", "schema: \"tilewright/experiment/1\"\nname: \"sweep\"\nsummary: \"Shapes.\"\n"
                    "workloads: { m: { model: \"m.mlir\" } }\nbase: { target: \"tiny4\" }\n" +
                        more);
  }
};

} // namespace

TEST_F(Explore, printsATableAndWritesTheRest) {
  writeExperiment("parameters: { rows: { list: [\"4\", \"8\", \"999\"] } }\n");
  const test::Ended ended = run({"explore", "e.yaml"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(ended.output, HasSubstr("sweep: Shapes.\n"));
  EXPECT_THAT(ended.output, HasSubstr("point  rows  analytical  cycles     ms    mm2     mJ  front "
                                      " against the base\n    0  base"));
  EXPECT_THAT(
      ended.output,
      HasSubstr("infeasible: the param 'rows' is 999, not within 1..256: a weight tile is "));
  EXPECT_THAT(ended.output,
              HasSubstr("\nresults.csv, results.json and report.html are in e.results\n"));
  EXPECT_THAT(ended.diagnostics, Not(HasSubstr("tilewright:"))); // how far it is, on a slow machine
  const std::string csv = read("e.results/results.csv");
  EXPECT_THAT(csv,
              HasSubstr("\ntilewright/points/3,3,\"m\",0,\"999\",infeasible,,,,,,,,,,0,,,,\"the "
                        "param 'rows' is 999, not within 1..256: a weight tile is "));
  // What is known is not run again.
  const test::Ended again = run({"explore", "e.yaml"});
  EXPECT_EQ(again.output, ended.output);
  EXPECT_EQ(read("e.results/results.csv"), csv);
  EXPECT_THAT(run({"explore", "report", "e.results"}).output, HasSubstr("sweep: Shapes.\n"));
}

TEST_F(Explore, analyticalTierRunsNothing) {
  writeExperiment("parameters: { rows: { list: [\"4\", \"8\"] } }\ntier: \"analytical\"\n");
  const test::Ended ended = run({"explore", "e.yaml", "-o", "out"});
  EXPECT_THAT(ended.output, HasSubstr("tier: analytical\n"));
  EXPECT_THAT(read("out/results.csv"), HasSubstr(",done,analytical,"));
}

#if !__has_feature(address_sanitizer)
TEST_F(Explore, aPointThatNeedsTooMuchMemoryIsThatPointsResult) {
  writeExperiment("limits: { mebibytes: \"150\" }\n");
  const test::Ended ended = run({"explore", "e.yaml", "-o", "out"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(read("out/results.csv"), Not(HasSubstr(",done,")));
}
#endif

TEST_F(Explore, whatNoMachineCanRunIsInfeasible) {
  writeExperiment("overlays: { gone: [\"gone.yaml\"] }\n");
  write("gone.yaml", "schema: \"tilewright/overlay/1\"\nname: \"gone\"\nsummary: \"No "
                     "products.\"\ninstructions: { mmul: null }\n");
  const test::Ended ended = run({"explore", "e.yaml", "-o", "out"});
  EXPECT_THAT(ended.output, HasSubstr("infeasible: "));
  EXPECT_THAT(ended.output, Not(HasSubstr(directory_)));
}

TEST_F(Explore, refusesABaseThatIsNoMachine) {
  writeExperiment("");
  write("e.yaml", read("e.yaml").replace(read("e.yaml").find("tiny4"), 5, "tiny5"));
  EXPECT_EQ(run({"explore", "e.yaml"}).diagnostics,
            "e.yaml:5:17: error: there is no target 'tiny5'\n  fix: did you mean 'tiny4'?\n");
}

TEST_F(Explore, refusesToReplaceWhatItReads) {
  writeExperiment("parameters: { rows: { list: [\"4\"] } }\n");
  std::filesystem::create_directory(directory_ + "/out");
  std::filesystem::create_symlink("../m.mlir", directory_ + "/out/report.html");
  const std::string model = read("m.mlir");
  const test::Ended ended = run({"explore", "e.yaml", "-o", "out"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "out/report.html: -o: error: is also read, as model, and would be "
                               "replaced\n  fix: give another -o\n");
  EXPECT_EQ(read("m.mlir"), model);
}

TEST_F(Explore, refusesAFolderWithoutResults) {
  EXPECT_EQ(run({"explore", "report", "none"}).diagnostics,
            "none: error: holds no experiment\n  fix: give the -o of a `tilewright explore`\n");
  writeExperiment("tier: \"analytical\"\n");
  EXPECT_EQ(run({"explore", "e.yaml", "-o", "out"}).code, 0);
  for (const char *damaged : {"{", "[]", "{\"name\": 5}"}) {
    write("out/plan.json", damaged);
    EXPECT_EQ(run({"explore", "report", "out"}).diagnostics,
              "out/plan.json: error: is no plan of an experiment, or is damaged\n  fix: explore "
              "into the folder again\n");
  }
}

TEST_F(Explore, needsAnExperiment) {
  const test::Ended ended = run({"explore"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.diagnostics,
            "tilewright: error: EXPERIMENT is required\n  fix: see `tilewright explore --help`\n");
}

TEST_F(Explore, saysWhichNetworksThereAre) {
  writeExperiment("");
  write("e.yaml",
        read("e.yaml").replace(read("e.yaml").find("model: \"m.mlir\""), 15, "network: \"vgg99\""));
  const test::Ended unknown =
      run({"explore", "e.yaml"}, [&] { ::setenv("XDG_CACHE_HOME", directory_.c_str(), 1); });
  EXPECT_THAT(unknown.diagnostics, HasSubstr("error: the network 'vgg99' was not made\n  fix: "
                                             "models/synthetic --list prints the networks; "
                                             "it needs .venv, which scripts/setup makes\n"));
  const test::Ended nowhere =
      run({"explore", "e.yaml"}, [&] { ::setenv("TILEWRIGHT_MODELS", directory_.c_str(), 1); });
  EXPECT_EQ(
      nowhere.diagnostics,
      fmt::format(
          "e.yaml:4:28: error: the network 'vgg99' cannot be made: {}/synthetic is not there\n"
          "  fix: set TILEWRIGHT_MODELS to the folder with models/synthetic\n",
          directory_));
}

} // namespace tilewright
