// Files are read whole and written whole or not at all.
#include "tilewright/support/files.h"

#include "tilewright/support/error.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace tilewright;
namespace fs = std::filesystem;

namespace {

// A directory of its own for each test.
class Files : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tilewright-files-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string &name) const { return (directory_ / name).string(); }

  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }

  static std::string failureOf(const std::function<void()> &action) {
    try {
      action();
      return "";
    } catch (const UserError &error) {
      return error.diagnostic();
    }
  }

  fs::path directory_;
};

TEST_F(Files, areReadAsWritten) {
  writeFile(path("a"), std::string("x\0y", 3));
  EXPECT_EQ(readFile(path("a")), std::string("x\0y", 3));
}

TEST_F(Files, replaceOldContent) {
  writeFile(path("a"), "old and longer");
  writeFile(path("a"), "new");
  EXPECT_EQ(readFile(path("a")), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, mayHaveTheLongestName) {
  writeFile(path(std::string(255, 'n')), "x");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, keepOldContentWhenTheDiskIsFull) {
  writeFile(path("a"), "old");
  struct rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = {16, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string failure = failureOf([&] { writeFile(path("a"), std::string(100, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(failure, path("a") + ": error: cannot write: File too large");
  EXPECT_EQ(readFile(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, areNotWrittenIntoAMissingDirectory) {
  EXPECT_EQ(failureOf([&] { writeFile(path("no/a"), "x"); }),
            path("no/a") + ": error: cannot write here: No such file or directory");
}

TEST_F(Files, areNotWrittenOverADirectory) {
  EXPECT_EQ(failureOf([&] { writeFile(directory_.string(), "x"); }),
            directory_.string() + ": error: is a directory, not a file");
}

TEST_F(Files, areNotWrittenOverADevice) {
  EXPECT_EQ(failureOf([&] { writeFile("/dev/full", "x"); }),
            "/dev/full: error: is not a regular file");
}

TEST_F(Files, areNotReadFromAFifo) {
  ASSERT_EQ(::mkfifo(path("f").c_str(), 0600), 0);
  EXPECT_EQ(failureOf([&] { readFile(path("f")); }), path("f") + ": error: is not a regular file");
}

TEST_F(Files, areNotReadPastTheLimit) {
  writeFile(path("a"), "12345");
  EXPECT_EQ(failureOf([&] { readFile(path("a"), 4); }),
            path("a") + ": error: is too large: 5 bytes, at most 4 are read");
}

TEST_F(Files, areNotReadWhenMissing) {
  EXPECT_EQ(failureOf([&] { readFile(path("a")); }),
            path("a") + ": error: cannot open: No such file or directory");
}

} // namespace
