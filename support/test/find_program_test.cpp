// ctest -R FindProgram: programs in the directories of $PATH.
#include "tilewright/support/find_program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class FindProgram : public testing::Test {
protected:
  FindProgram() {
    std::string pattern = (fs::temp_directory_path() / "tilewright-path-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    ::setenv("PATH", ("/nowhere:" + path("a") + ":" + path("b")).c_str(), 1);
  }
  ~FindProgram() override {
    ::setenv("PATH", before_.c_str(), 1);
    fs::remove_all(directory_);
  }

  std::string path(const std::string &name) const { return (directory_ / name).string(); }

  void make(const std::string &name, fs::perms permissions) const {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(path(name)) << "#!/bin/sh\n";
    fs::permissions(path(name), permissions);
  }

private:
  std::string before_ = std::getenv("PATH");
  fs::path directory_;
};

TEST_F(FindProgram, TakesTheFirstOfThePath) {
  make("b/program", fs::perms::owner_all);
  EXPECT_EQ(findProgram("program"), path("b/program"));
  make("a/program", fs::perms::owner_all);
  EXPECT_EQ(findProgram("program"), path("a/program"));
}

TEST_F(FindProgram, TakesNothingThatCannotBeExecuted) {
  make("a/program", fs::perms::owner_read);
  fs::create_directories(path("b/program"));
  EXPECT_EQ(findProgram("program"), "");
}

TEST_F(FindProgram, DoesWithoutAPath) {
  ::unsetenv("PATH");
  EXPECT_EQ(findProgram("program"), "");
}

} // namespace
} // namespace tilewright
