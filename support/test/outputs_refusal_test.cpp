// Outputs that are refused before a command begins: paths that cannot be written, and files that
// are inputs or outputs already.
#include "outputs_fixture.h"

#include "tilewright/support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {
namespace {

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

} // namespace
} // namespace tilewright
