// `compile --tune` as a user meets it: the table, how long it still takes, mistakes.
#include "tool.h"
#include "tune_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Tune : public test::ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    writeConvolution();
  }
  test::Ended tune(const std::vector<std::string> &more) const {
    std::vector<std::string> arguments{"compile", "m.mlir", "--quantize", "none", "-o", "p.elf"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

} // namespace

TEST_F(Tune, printsWhatItFoundAndWhereFrom) {
  const test::Ended first = tune({"--tune", "12", "--tune-database", "t.db"});
  EXPECT_EQ(first.code, 0) << first.diagnostics;
  EXPECT_THAT(first.diagnostics, Not(HasSubstr("tilewright:"))); // how far it is, on a slow machine
  EXPECT_THAT(first.output,
              HasSubstr("layer                                            default       tuned   "
                        "change  trials  from\nmy layer  "));
  EXPECT_THAT(first.output, HasSubstr("      12  search\nwhole program: "));
  const std::string program = read("p.elf");
  const test::Ended second = tune({"--tune", "12", "--tune-database", "t.db"});
  EXPECT_THAT(second.output, HasSubstr("      12  database\n"));
  EXPECT_EQ(read("p.elf"), program);
  EXPECT_THAT(files(), ::testing::Contains("t.db"));
}

TEST_F(Tune, searchesAtRandomWhenTold) {
  const test::Ended ended =
      tune({"--tune", "8", "--tune-search", "random", "--tune-database", "t.db", "--seed", "4"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(ended.output, HasSubstr("       8  search\n"));
}

TEST_F(Tune, refusesWhatHasNoEffect) {
  for (const char *option : {"--tune-search=random", "--tune-database=t.db"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    const test::Ended ended = tune({option});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.diagnostics, "tilewright: error: " + name +
                                     ": has no effect without --tune\n"
                                     "  fix: see `tilewright compile --help`\n");
  }
  EXPECT_EQ(tune({"--tune", "4", "--compile-to", "kernel"}).diagnostics,
            "tilewright: error: --tune: has no effect with --compile-to kernel\n"
            "  fix: see `tilewright compile --help`\n");
  EXPECT_EQ(tune({"--tune", "4", "--tune-database", ""}).diagnostics,
            "tilewright: error: --tune-database: is empty\n"
            "  fix: see `tilewright compile --help`\n");
  EXPECT_EQ(tune({"--tune", "0"}).code, 2);
  EXPECT_EQ(tune({"--tune", "-5"}).code, 2);
  EXPECT_EQ(tune({"--tune", "many"}).code, 2);
}

TEST_F(Tune, takesASeedBehindTheImport) {
  ASSERT_EQ(
      run({"compile", "m.mlir", "--quantize", "none", "--emit", "kernel", "-o", "k.mlir"}).code, 0);
  const test::Ended ended = run({"compile", "k.mlir", "--compile-from", "kernel", "--seed", "2",
                                 "--tune", "4", "--tune-database", "t.db", "-o", "p.elf"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
}

TEST_F(Tune, refusesADatabaseThatIsNone) {
  write("t.db", std::string(3000, 'x'));
  const test::Ended ended = tune({"--tune", "4", "--tune-database", "t.db"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "t.db: error: is not a database of tuning results\n"
                               "  fix: give another --tune-database\n");
  EXPECT_EQ(files(), (std::vector<std::string>{"m.mlir", "t.db"}));
}

TEST_F(Tune, doesNotWriteOverItsDatabase) {
  for (const bool isThere : {false, true}) {
    if (isThere)
      EXPECT_EQ(tune({"--tune", "4", "--tune-database", "t.db"}).code, 0);
    const test::Ended ended = run({"compile", "m.mlir", "--quantize", "none", "-o", "./t.db",
                                   "--tune", "4", "--tune-database", "t.db"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.diagnostics,
              "./t.db: -o: error: is also read, as --tune-database, and would be replaced\n"
              "  fix: give another -o\n");
  }
}

TEST(TuneText, TellsHowFarItIs) {
  EXPECT_EQ(progressText({0, 2, 1, 50, "a"}, 3), "tuning 'a' (1 of 2): trial 1 of 50");
  EXPECT_EQ(progressText({0, 2, 25, 50, "a"}, 10),
            "tuning 'a' (1 of 2): trial 25 of 50, about 30 s left");
  EXPECT_EQ(progressText({2, 4, 50, 50, "x\x1b"}, 600),
            "tuning 'x\\x1b' (3 of 4): trial 50 of 50, about 3 min left");
}

TEST(TuneText, SaysWhichProgramIsWritten) {
  TuneResult result;
  result.kernels = {{{"one", "two", "three"}, 1000, 900, 50, false}, {{"x"}, 10, 10, 7, true}};
  result.untunedCycles = 2000;
  result.tunedCycles = 1900;
  EXPECT_EQ(tableOf(result),
            "layer                                            default       tuned   change  "
            "trials  from\n"
            "one and 2 more                                      1000         900  -10.0 %      "
            "50  search\n"
            "x                                                     10          10   +0.0 %       "
            "7  database\n"
            "whole program: 2000 cycles untuned, 1900 tuned (-5.0 %); the tuned one is written\n");
  result.tunedCycles = 2100;
  EXPECT_THAT(tableOf(result), HasSubstr("2100 tuned (+5.0 %); the untuned one is written\n"));
}

} // namespace tilewright
