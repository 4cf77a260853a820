// What a command writes is there whole at the end, or nothing of it is.
#include "tilewright/support/outputs.h"

#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/process.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tilewright;
namespace fs = std::filesystem;

namespace {

// A directory of its own for each test.
class OutputsTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tilewright-outputs-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string &name) const { return (directory_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::recursive_directory_iterator(directory_), {}));
  }

  // What is said of it, without the test's directory.
  std::string failureOf(const std::function<void()> &action) const {
    try {
      action();
      return "";
    } catch (const UserError &error) {
      std::string text = error.diagnostic();
      for (size_t at; (at = text.find(directory_.string() + "/")) != std::string::npos;)
        text.erase(at, directory_.string().size() + 1);
      return text;
    }
  }
  std::string refusalOf(const std::string &name) const {
    return failureOf([&] { Outputs().file("--json", path(name)); });
  }

  fs::path directory_;
};

TEST_F(OutputsTest, areThereOnlyWhenAllAre) {
  Outputs outputs;
  outputs.file("-a", path("a"));
  outputs.file("-b", path("b"));
  outputs.write(path("a"), "1");
  outputs.write(path("b"), "2");
  EXPECT_FALSE(fs::exists(path("a")));
  outputs.commit();
  EXPECT_EQ(readFile(path("a")), "1");
  EXPECT_EQ(readFile(path("b")), "2");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(OutputsTest, leaveNothingWithoutCommit) {
  writeFile(path("a"), "old");
  {
    Outputs outputs;
    outputs.directory("-d", path("d/deep"));
    outputs.file("-a", path("a"));
    outputs.file("-b", path("d/deep/b"));
    outputs.write(path("a"), "new");
    outputs.write(path("d/deep/b"), "new");
    EXPECT_EQ(entries(), 5u);
  }
  EXPECT_EQ(readFile(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputsTest, thatAreNotWrittenStayAsTheyAre) {
  writeFile(path("a"), "old");
  Outputs outputs;
  outputs.directory("-d", path("d"));
  outputs.file("-a", path("a"));
  outputs.commit();
  EXPECT_EQ(readFile(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputsTest, areMadeWithTheirDirectories) {
  Outputs outputs;
  outputs.directory("-d", path("d/deep/"));
  outputs.file("-a", path("d/deep/a"));
  outputs.write(path("d/deep/a"), "1");
  outputs.commit();
  EXPECT_EQ(readFile(path("d/deep/a")), "1");
}

TEST_F(OutputsTest, areRefusedInAMissingDirectory) {
  EXPECT_EQ(refusalOf("no/a"), "no/a: --json: error: cannot write here: No such file or directory\n"
                               "  fix: give another --json");
}

TEST_F(OutputsTest, areRefusedBelowAFile) {
  writeFile(path("f"), "");
  EXPECT_EQ(refusalOf("f/a"), "f/a: --json: error: cannot write here: Not a directory\n"
                              "  fix: give another --json");
  EXPECT_EQ(failureOf([&] { Outputs().directory("-d", path("f/d")); }),
            "f/d: -d: error: cannot make the directory: Not a directory\n  fix: give another -d");
}

TEST_F(OutputsTest, areRefusedOverADirectory) {
  fs::create_directory(path("d"));
  EXPECT_EQ(refusalOf("d"), "d: --json: error: is a directory, not a file\n"
                            "  fix: give another --json");
}

TEST_F(OutputsTest, areRefusedOverABlockDeviceOrSocket) {
  ASSERT_EQ(::mknod(path("s").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(refusalOf("s"), "s: --json: error: is no file, pipe or character device\n"
                            "  fix: give another --json");
}

TEST_F(OutputsTest, areRefusedThroughALinkInACircle) {
  fs::create_symlink("l", path("l"));
  EXPECT_EQ(refusalOf("l"),
            "l: --json: error: cannot write here: Too many levels of symbolic links\n"
            "  fix: give another --json");
  EXPECT_EQ(failureOf([&] { Outputs().directory("-d", path("l")); }),
            "l: -d: error: cannot make the directory: Too many levels of symbolic links\n"
            "  fix: give another -d");
}

TEST_F(OutputsTest, areRefusedWhereADirectoryIsAFile) {
  writeFile(path("f"), "");
  EXPECT_EQ(failureOf([&] { Outputs().directory("-d", path("f")); }),
            "f: -d: error: is not a directory\n  fix: give another -d");
}

// As somebody who may not write everything.
class ProtectedOutputs : public OutputsTest {
protected:
  void SetUp() override {
    OutputsTest::SetUp();
    writeFile(path("a"), "old");
    if (user_ == 0) {
      ASSERT_EQ(::chown(directory_.c_str(), nobody, nobody), 0);
      ASSERT_EQ(::chown(path("a").c_str(), nobody, nobody), 0);
      ASSERT_EQ(::seteuid(nobody), 0);
    }
  }
  void TearDown() override {
    ASSERT_EQ(::seteuid(user_), 0);
    OutputsTest::TearDown();
  }
  static constexpr uid_t nobody = 65534;
  const uid_t user_ = ::geteuid();
};

TEST_F(ProtectedOutputs, areRefused) {
  ::chmod(path("a").c_str(), 0444);
  EXPECT_EQ(refusalOf("a"), "a: --json: error: is write-protected\n  fix: give another --json");
}

TEST_F(ProtectedOutputs, areRefusedInAProtectedDirectory) {
  ::chmod(directory_.c_str(), 0555);
  EXPECT_EQ(refusalOf("b"), "b: --json: error: cannot write here: Permission denied\n"
                            "  fix: give another --json");
  EXPECT_EQ(failureOf([&] { Outputs().directory("-d", path("d")); }),
            "d: -d: error: cannot make the directory: Permission denied\n  fix: give another -d");
  ::chmod(directory_.c_str(), 0755);
}

TEST_F(ProtectedOutputs, areRefusedWhereOnlyTheOwnerMayReplaceThem) {
  if (user_ != 0)
    GTEST_SKIP() << "only root makes a file of somebody else's";
  ASSERT_EQ(::seteuid(0), 0);
  ::chown(path("a").c_str(), 0, 0);
  ::chmod(path("a").c_str(), 0666);
  ::chown(directory_.c_str(), 0, 0);
  ::chmod(directory_.c_str(), 01777);
  ASSERT_EQ(::seteuid(nobody), 0);
  EXPECT_EQ(refusalOf("a"), "a: --json: error: is write-protected\n  fix: give another --json");
}

TEST_F(OutputsTest, keepTheModeOfWhatTheyReplace) {
  writeFile(path("a"), "old");
  ::chmod(path("a").c_str(), 0600);
  Outputs outputs;
  outputs.file("-a", path("a"));
  outputs.write(path("a"), "new");
  outputs.commit();
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// By any name: the file's own, one through another directory, a link, a hard link.
class SameFile : public OutputsTest, public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    OutputsTest::SetUp();
    writeFile(path("a"), "old");
    fs::create_directory(path("d"));
    fs::create_symlink("a", path("link"));
    fs::create_directory_symlink(".", path("here"));
    fs::create_hard_link(path("a"), path("hard"));
  }
};
INSTANTIATE_TEST_SUITE_P(By, SameFile,
                         testing::Values("a", "d/../a", "./a", "link", "here/a", "hard"));

TEST_P(SameFile, isNoInputAndOutput) {
  Outputs outputs;
  outputs.reads("PROGRAM", path("a"));
  EXPECT_EQ(failureOf([&] { outputs.file("--json", path(GetParam())); }),
            std::string(GetParam()) +
                ": --json: error: is also read, as PROGRAM, and would be replaced\n"
                "  fix: give another --json");
}

TEST_P(SameFile, isNoOutputOnceRead) {
  Outputs outputs;
  readFile(path("a"));
  EXPECT_EQ(refusalOf(GetParam()),
            std::string(GetParam()) +
                ": --json: error: is also read by this command, and would be replaced\n"
                "  fix: give another --json");
}

TEST_P(SameFile, isNoOutputTwice) {
  Outputs outputs;
  outputs.file("--json", path(GetParam()));
  EXPECT_EQ(failureOf([&] { outputs.file("--csv", path("a")); }),
            "a: --csv: error: is also written, by --json\n  fix: give another --csv");
}

TEST_P(SameFile, isNoOutputWhenReadMeanwhile) {
  Outputs outputs;
  outputs.file("--json", path(GetParam()));
  outputs.write(path(GetParam()), "new");
  readFile(path("a"));
  EXPECT_NE(failureOf([&] { outputs.commit(); }), "");
  EXPECT_EQ(readFile(path("a")), "old");
}

TEST_F(OutputsTest, thatAreYetToBeMadeAreComparedToo) {
  fs::create_directory_symlink(".", path("here"));
  fs::create_symlink("a", path("link"));
  for (const char *other : {"a", "./a", "here/a", "link"}) {
    Outputs outputs;
    outputs.file("--json", path("a"));
    EXPECT_EQ(failureOf([&] { outputs.file("--csv", path(other)); }),
              std::string(other) + ": --csv: error: is also written, by --json\n"
                                   "  fix: give another --csv");
  }
}

TEST_F(OutputsTest, inDirectoriesYetToBeMadeAreComparedToo) {
  Outputs outputs;
  outputs.directory("--output-dir", path("d"));
  outputs.file("--output-dir", path("d/y.npy"));
  EXPECT_EQ(failureOf([&] { outputs.file("--csv", path("./d/y.npy")); }),
            "./d/y.npy: --csv: error: is also written, by --output-dir\n"
            "  fix: give another --csv");
  EXPECT_EQ(failureOf([&] { outputs.file("--csv", path("d")); }),
            "d: --csv: error: is also written, by --output-dir\n  fix: give another --csv");
  outputs.file("--json", path("e"));
  EXPECT_EQ(failureOf([&] { outputs.directory("--more", path("e")); }),
            "e: --more: error: is also written, by --json\n  fix: give another --more");
}

TEST_F(OutputsTest, areNotWhereStandardOutputGoes) {
  const int kept = ::dup(1);
  const int file = ::open(path("a").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, 1);
  const std::string refusal = refusalOf("a");
  ::dup2(kept, 1);
  ::close(file);
  ::close(kept);
  EXPECT_EQ(refusal, "a: --json: error: is also standard output\n  fix: give another --json");
}

TEST_F(OutputsTest, goThroughALinkThatStays) {
  fs::create_directory(path("d"));
  fs::create_symlink("d/a", path("link")); // to what is not there yet
  Outputs outputs;
  outputs.file("-a", path("link"));
  outputs.write(path("link"), "1");
  outputs.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(readFile(path("d/a")), "1");
}

TEST_F(OutputsTest, mayBeTheNullDeviceTwice) {
  Outputs outputs;
  outputs.file("-a", "/dev/null");
  outputs.file("-b", "/dev/null");
  outputs.write("/dev/null", "x");
  outputs.commit();
}

TEST_F(OutputsTest, leaveNothingWhenADeviceIsFull) {
  Outputs outputs;
  outputs.file("-a", path("a"));
  outputs.file("-b", "/dev/full");
  outputs.write(path("a"), "1");
  outputs.write("/dev/full", "2");
  EXPECT_EQ(failureOf([&] { outputs.commit(); }),
            "/dev/full: -b: error: cannot write: No space left on device\n  fix: give another -b");
  EXPECT_FALSE(fs::exists(path("a")));
}

TEST_F(OutputsTest, keepOldContentWhenTheDiskIsFull) {
  writeFile(path("a"), "old");
  struct rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = {16, old.rlim_max};
  std::string failure;
  {
    Outputs outputs;
    outputs.file("-a", path("a"));
    ::setrlimit(RLIMIT_FSIZE, &small);
    failure = failureOf([&] { outputs.write(path("a"), std::string(100, 'x')); });
    ::setrlimit(RLIMIT_FSIZE, &old);
  }
  EXPECT_EQ(failure, "a: -a: error: cannot write: File too large\n  fix: give another -a");
  EXPECT_EQ(readFile(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputsTest, areTakenBackWhenALaterOneCannotBePut) {
  writeFile(path("a"), "old");
  {
    Outputs outputs;
    for (const char *name : {"a", "b", "c"})
      outputs.file("-o", path(name));
    for (const char *name : {"a", "b"})
      outputs.write(path(name), "new");
    const std::string temporary = outputs.temporary(path("c"));
    fs::remove(temporary);
    EXPECT_EQ(failureOf([&] { outputs.commit(); }),
              "c: -o: error: cannot write: No such file or directory\n  fix: give another -o");
  }
  EXPECT_EQ(readFile(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputsTest, doNotReplaceWhatHasBecomeADirectory) {
  Outputs outputs;
  outputs.file("-o", path("a"));
  outputs.write(path("a"), "new");
  fs::create_directory(path("a"));
  EXPECT_EQ(failureOf([&] { outputs.commit(); }),
            "a: -o: error: has become something else than a file\n  fix: give another -o");
}

TEST_F(OutputsTest, feedAPipe) {
  ASSERT_EQ(::mkfifo(path("p").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    const int pipe = ::open(path("p").c_str(), O_RDONLY);
    char buffer[64];
    for (ssize_t count; (count = ::read(pipe, buffer, sizeof buffer)) > 0;)
      got.append(buffer, static_cast<size_t>(count));
    ::close(pipe);
  });
  {
    Outputs outputs;
    outputs.file("-o", path("p"));
    outputs.write(path("p"), "whole");
    outputs.commit();
  }
  reader.join();
  EXPECT_EQ(got, "whole");
}

TEST_F(OutputsTest, doNotWaitForAPipeWithoutReader) {
  ASSERT_EQ(::mkfifo(path("p").c_str(), 0600), 0);
  EXPECT_EQ(refusalOf("p"),
            "p: --json: error: nothing reads from this pipe\n  fix: give another --json");
}

TEST_F(OutputsTest, goToADescriptorThatIsOpen) {
  const int file = ::open(path("a").c_str(), O_RDWR | O_CREAT, 0600);
  const std::string name = "/dev/fd/" + std::to_string(file);
  Outputs outputs;
  outputs.file("-o", name);
  outputs.write(name, "x");
  outputs.commit();
  ::close(file);
  EXPECT_EQ(readFile(path("a")), "x");
}

TEST_F(OutputsTest, doNotGoToADescriptorThatIsNotOpenForWriting) {
  const char *expected = "/dev/fd/987: -o: error: cannot write here: Bad file descriptor\n"
                         "  fix: give another -o";
  EXPECT_EQ(failureOf([] { Outputs().file("-o", "/dev/fd/987"); }), expected);
  ::dup2(::open("/dev/null", O_RDONLY), 987);
  EXPECT_EQ(failureOf([] { Outputs().file("-o", "/dev/fd/987"); }), expected);
  ::close(987);
}

TEST_F(OutputsTest, areNoStreamWhereTheyAreWrittenByName) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0666), 0);
  for (const std::string &stream :
       {std::string("-"), std::string("/dev/stdout"), std::string("/dev/fd/2"),
        std::string("/dev/null"), path("pipe")}) {
    const std::string shown = stream == path("pipe") ? "pipe" : stream;
    EXPECT_EQ(failureOf([&] { Outputs().namedFile("--waves", stream); }),
              shown + ": --waves: error: is a stream, and this output needs a file\n"
                      "  fix: give another --waves");
  }
  Outputs().namedFile("--waves", path("a"));
  Outputs().namedFile("--waves", "");
}

TEST_F(OutputsTest, knowTheNamesOfStandardOutput) {
  for (const char *name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    EXPECT_TRUE(isStandardOutput(name));
  for (const char *name : {"", "--", "/dev/fd/", "/dev/fd/10", "/dev/fd/1x", "/dev/stderr"})
    EXPECT_FALSE(isStandardOutput(name));
}

TEST_F(OutputsTest, goOnAnInterrupt) {
  ChildProcess child([&]() -> int {
    Outputs outputs;
    outputs.directory("-d", path("d/deep"));
    outputs.file("-a", path("d/deep/a"));
    outputs.write(path("d/deep/a"), "1");
    removeUnfinishedFile(); // what the handler does
    ::_exit(0);
  });
  EXPECT_TRUE(child.wait().isSuccess());
  EXPECT_EQ(entries(), 0u);
}

TEST_F(OutputsTest, stayWhenAProcessOfOursIsInterrupted) {
  Outputs outputs;
  outputs.file("-a", path("a"));
  outputs.write(path("a"), "1");
  ChildProcess child([] {
    removeUnfinishedFile();
    return 0;
  });
  EXPECT_TRUE(child.wait().isSuccess());
  outputs.commit();
  EXPECT_EQ(readFile(path("a")), "1");
}

} // namespace
