// ctest -R Executor: whatever becomes of a point's process, its record is written. The tool is a
// script here.
#include "files.h"

#include "tilewright/explore/executor.h"
#include "tilewright/explore/point.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace tilewright::explore {

namespace {

// explore point FOLDER KEY: what a point does is its key.
const char *const tool = R"(#!/bin/sh
record="$3/points/$4.json"
case "$4" in
  good*) echo '{"status":"done","reason":""}' > "$record" ;;
  segv) kill -SEGV $$ ;;
  late) sleep 100 ;;
  memory) echo 'tilewright: error: not enough memory' >&2; exit 1 ;;
  broken) echo 'tilewright: internal error: here' >&2; echo more >&2; exit 70 ;;
  taken) rm "$3/points/$4.spec" ;;
  limit) ulimit -v > "$3/limit"; echo '{"status":"done","reason":""}' > "$record" ;;
esac
)";

class ExecutorTest : public test::FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    std::filesystem::create_directories(folder_ + "/points");
    options_ = {write("tool", tool), folder_, 2, {1, 4096}};
    ::chmod(options_.tool.c_str(), 0755);
  }

  std::string recordOf(const std::string &key) const {
    const auto json = nlohmann::json::parse(readFile(recordFile(folder_, key)));
    return json.at("status").get<std::string>() + ": " + json.at("reason").get<std::string>();
  }

  std::vector<std::string> run(const std::vector<std::string> &keys) {
    for (const std::string &key : keys)
      write("points/" + key + ".spec", "{}");
    std::vector<std::string> ended;
    makeLocalExecutor(options_)->run(
        keys, [&](const std::string &key) { ended.push_back(key); }, [] {});
    return ended;
  }

  ExecutorOptions options_;
};

TEST_F(ExecutorTest, RunsAllPoints) {
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i)
    keys.push_back("good" + std::to_string(i));
  std::vector<std::string> ended = run(keys);
  EXPECT_THAT(ended, ::testing::UnorderedElementsAreArray(keys));
  EXPECT_EQ(recordOf("good7"), "done: ");
}

TEST_F(ExecutorTest, WritesWhatBecameOfAProcess) {
  run({"segv", "late", "memory", "broken", "silent"});
  EXPECT_EQ(recordOf("segv"), "crash: ended by signal 11 (Segmentation fault)");
  EXPECT_EQ(recordOf("late"), "timeout: did not end within 1 s");
  EXPECT_EQ(recordOf("memory"), "memory: not enough memory");
  EXPECT_EQ(recordOf("broken"), "crash: exit code 70: tilewright: internal error: here");
  EXPECT_EQ(recordOf("silent"), "crash: exit code 0: ");
  EXPECT_FALSE(std::filesystem::exists(logFile(folder_, "broken")));
}

#if !__has_feature(address_sanitizer)
TEST_F(ExecutorTest, LimitsMemory) {
  run({"limit"});
  EXPECT_EQ(readFile(folder_ + "/limit"), "4194304\n");
}
#endif

// Somebody else has taken the record, and the spec before it.
TEST_F(ExecutorTest, ARecordThatWasTakenIsNoCrash) {
  run({"taken"});
  EXPECT_FALSE(std::filesystem::exists(recordFile(folder_, "taken")));
}

TEST_F(ExecutorTest, NoToolIsACrash) {
  options_.tool = folder_ + "/none";
  run({"good"});
  EXPECT_EQ(recordOf("good"),
            "crash: exit code 127: " + options_.tool + ": No such file or directory");
}

TEST_F(ExecutorTest, ATaskRunsItsSlice) {
  const std::string list = write("list", "good0\ngood1\ngood2\ngood3\ngood4\n");
  for (const char *key : {"good0", "good1", "good2", "good3"})
    write("points/" + std::string(key) + ".spec", "{}");
  write("points/good2.json", "{\"status\":\"known\",\"reason\":\"\"}");
  options_.processes = 1;
  runTask(options_, list, 1, 4);
  auto isThere = [&](const char *key) { return std::filesystem::exists(recordFile(folder_, key)); };
  EXPECT_FALSE(isThere("good0")); // of another task
  EXPECT_TRUE(isThere("good1"));
  EXPECT_EQ(recordOf("good2"), "known: "); // ran before
  EXPECT_TRUE(isThere("good3"));
  EXPECT_FALSE(isThere("good4")); // was handed over: it has no spec
}

// A Slurm of scripts: what the daemons would do, and what they may do wrong.
class SlurmExecutorTest : public ExecutorTest {
protected:
  void SetUp() override {
    ExecutorTest::SetUp();
    std::filesystem::create_directories(folder_ + "/jobs");
    std::filesystem::create_directories(folder_ + "/bin");
    path_ = std::getenv("PATH");
    ::setenv("PATH", (folder_ + "/bin:" + path_).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ExecutorTest::TearDown();
  }
  void script(const std::string &name, const std::string &body) const {
    ::chmod(write("bin/" + name, "#!/bin/sh\n" + body).c_str(), 0755);
  }
  std::string mistake(const std::vector<std::string> &keys) {
    return test::mistakeOf(
        [&] { makeSlurmExecutor(options_)->run(keys, [](const std::string &) {}, [] {}); });
  }

  std::string path_;
};

TEST_F(SlurmExecutorTest, NeedsSlurm) {
  script("sbatch", "echo no such thing >&2; exit 127\n");
  EXPECT_EQ(mistake({"a"}), "there is no Slurm here: no such thing | install the package "
                            "slurm-client, or leave out --executor");
}

TEST_F(SlurmExecutorTest, SaysWhySbatchRefuses) {
  script("sbatch",
         "[ \"$1\" = --version ] && exit 0\necho 'sbatch: error: no partition' >&2; exit 1\n");
  EXPECT_EQ(mistake({"a"}),
            "sbatch does not take the points: sbatch: error: no partition | see what `sinfo` says");
}

TEST_F(SlurmExecutorTest, JobsThatEndWithoutResultsLoseNothing) {
  script("sbatch", "[ \"$1\" = --version ] && exit 0\necho 17\n");
  script("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n");
  EXPECT_EQ(mistake({"a", "b"}),
            fmt::format("Slurm job 17 has ended, and 2 of its points have no result | "
                        "see {}/jobs/17_*.log; the same command runs these points again",
                        folder_));
  EXPECT_FALSE(std::filesystem::exists(recordFile(folder_, "a")));
}

TEST_F(SlurmExecutorTest, WaitsForJobsOfAnEarlierCall) {
  script("sbatch",
         "[ \"$1\" = --version ] && exit 0\necho twice > " + folder_ + "/submitted; echo 18\n");
  script("squeue",
         "echo 17; echo '{\"status\":\"done\",\"reason\":\"\"}' > " + folder_ + "/points/a.json\n");
  write("jobs/17.job", "a\n");
  EXPECT_EQ(mistake({"a"}), "no mistake");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/submitted"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/jobs/17.job"));
}

} // namespace

} // namespace tilewright::explore
