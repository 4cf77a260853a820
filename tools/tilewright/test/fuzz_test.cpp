// tilewright fuzz: what it says of programs that are equal, and of one that is not.
#include "fuzz.h"

#include "check_failed.h"
#include "tilewright/testing/lying_engine.h"
#include "tool.h"

#include <filesystem>
#include <gmock/gmock.h>

using namespace tilewright;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

class Fuzz : public test::ToolTest {};

TEST_F(Fuzz, SaysHowManyProgramsAreEqualOnAnyNumberOfProcesses) {
  const std::vector<std::string> command = {
      "fuzz", "--target", "tiny4", "--target", "odd12x20", "--count", "24", "--length", "20"};
  auto ended = [&](const char *jobs) {
    std::vector<std::string> all = command;
    all.insert(all.end(), {"-j", jobs});
    return run(all);
  };
  const test::Ended one = ended("1"), three = ended("3");
  EXPECT_EQ(one.code, 0) << one.diagnostics;
  EXPECT_EQ(one.output, three.output);
  EXPECT_THAT(
      one.output,
      MatchesRegex("equal: 24 programs \\([0-9]+ race-free, [0-9]+ racing, [0-9]+ trapping or "
                   "deadlocked\\), [1-9][0-9]* instructions, [1-9][0-9]* cycles\n"));
  EXPECT_THAT(one.diagnostics, ContainsRegex("fuzz: [0-9]+ programs a second\n$"));
  EXPECT_TRUE(files().empty());
}

TEST_F(Fuzz, NeedsAPlaceForAnOverlayOfItsOwn) {
  const test::Ended ended =
      run({"fuzz", "--count", "1"}, [] { ::setenv("TMPDIR", "/nowhere", 1); });
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "/nowhere: TMPDIR: error: cannot write here: No "
                               "such file or directory\n  fix: give another TMPDIR\n");
}

TEST_F(Fuzz, MindsNoFileOfOthers) {
  std::filesystem::create_directory(directory_ + "/tilewright-dram");
  const test::Ended ended = run({"fuzz", "--target", "tiny4", "--count", "1", "--length", "5"},
                                [&] { ::setenv("TMPDIR", directory_.c_str(), 1); });
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(files(), std::vector<std::string>{"tilewright-dram"});
}

// The cycle engine, but what it stores to DRAM from address 64 on comes a cycle late.
class LateStores : public lockstep::LyingEngine {
public:
  explicit LateStores(std::unique_ptr<Engine> truth)
      : LyingEngine(*truth,
                    [] {
                      lockstep::Lie lie;
                      lie.access = [](AccessEvent &event) {
                        if (event.isWrite && event.space == isa::Space::Dram && event.address >= 64)
                          ++event.cycle;
                      };
                      return lie;
                    }),
        own_(std::move(truth)) {}
  const char *name() const override { return "rtl"; }

private:
  std::unique_ptr<Engine> own_;
};

// The programs are the same, and so is what is left of the first that differs.
TEST_F(Fuzz, ShrinksAndSavesTheFirstProgramThatDiffers) {
  auto failure = [&](int processes) -> std::string {
    FuzzOptions options;
    options.engineList = "functional,cycle,late";
    options.targets = {"tiny4"};
    options.length = 20;
    options.processes = processes;
    options.directory = directory_;
    testing::internal::CaptureStderr();
    try {
      fuzz(options, [](const std::string &name, const isa::Isa &isa) -> std::unique_ptr<Engine> {
        if (name == "late")
          return std::make_unique<LateStores>(makeEngine("cycle", isa));
        return makeEngine(name, isa);
      });
    } catch (const CheckFailed &failed) {
      EXPECT_THAT(testing::internal::GetCapturedStderr(),
                  HasSubstr("fuzz: the engines differ on the program of seed "));
      return failed.what();
    }
    testing::internal::GetCapturedStderr();
    return "nothing";
  };
  const std::string one = failure(1);
  EXPECT_EQ(one, failure(3));
  EXPECT_THAT(one, ContainsRegex("/fuzz-tiny4-[0-9]+\\.elf: different: cycle [0-9]+, store, "
                                 "instruction [0-9] `store.*`: cycle writes . bytes at "
                                 "0x[0-9a-f]+ of dram, rtl does so in cycle [0-9]+\n"
                                 "  the [123] instructions that are left of seed [0-9]+ on tiny4 "
                                 "\\([0-9]+ before it were equal\\)\n"
                                 "  reproduce: tilewright verify .*/fuzz-tiny4-[0-9]+\\.elf "
                                 "--engines cycle,rtl\n"
                                 "  the whole program: tilewright fuzz --engines "
                                 "functional,cycle,late --target tiny4 --length 20 --seed [0-9]+ "
                                 "--count 1$"));
  // The file is a program: with the DRAM that it ran on.
  const std::string file = one.substr(0, one.find(": different"));
  EXPECT_EQ(run({"verify", file, "--engines", "cycle,cycle"}).code, 0);
}

} // namespace
