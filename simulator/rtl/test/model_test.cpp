// What the rtl engine says when its model cannot be built or loaded: with tools that only pretend.
#include "tilewright/testing/harness.h"

#include "trace.h"

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tilewright::rtl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const isa::Isa &machine() { return cycle::target("tiny4"); }

// An empty cache, and a PATH with nothing but what a test puts there.
class Model : public testing::Test {
protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("rtl_model_test." + std::to_string(::getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "bin");
    fs::create_directories(directory_ / "tilewright" / "rtl");
    path_ = std::getenv("PATH");
    ::setenv("PATH", (directory_ / "bin").c_str(), 1);
    ::setenv("XDG_CACHE_HOME", directory_.c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(directory_);
  }
  void tool(const std::string &name, const std::string &script = "exit 0") {
    const fs::path file = directory_ / "bin" / name;
    writeFile(file.string(), "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  template <typename Call> static std::string errorOf(Call call) {
    try {
      call();
    } catch (const UserError &error) {
      return error.what();
    }
    return "no error";
  }
  static std::string errorOfLoad() {
    return errorOf([] { loadModel(machine()); });
  }

  fs::path directory_;
  std::string path_;
};

const char *const otherwise = ", or run --engine cycle: it gives the same record";

TEST_F(Model, NeedsVerilator) {
  EXPECT_EQ(
      errorOf([] { makeRtlEngine(machine()); }),
      std::string(
          "the rtl engine: error: verilator is not here\n  fix: install the package verilator") +
          otherwise);
}

TEST_F(Model, NeedsACompiler) {
  tool("verilator");
  EXPECT_EQ(
      errorOfLoad(),
      std::string(
          "the rtl engine: error: no C++ compiler is here\n  fix: install the package clang-22") +
          otherwise);
}

TEST_F(Model, NeedsMake) {
  tool("verilator");
  tool("g++");
  EXPECT_EQ(
      errorOfLoad(),
      std::string("the rtl engine: error: make is not here\n  fix: install the package make") +
          otherwise);
}

TEST_F(Model, NamesTheLogOfABuildThatFails) {
  tool("verilator", "echo broken; exit 1");
  tool("g++");
  tool("make");
  const std::string error = errorOfLoad();
  EXPECT_THAT(error, HasSubstr("the rtl engine: error: the model cannot be built\n  fix: read "));
  const std::string log = error.substr(error.find("read ") + 5);
  EXPECT_EQ(readFile(log), "broken\n");
}

TEST_F(Model, NeedsADirectory) {
  const char *home = std::getenv("HOME");
  const std::string before = home != nullptr ? home : "";
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(errorOfLoad(), "the rtl engine: error: there is no directory to keep its models in\n"
                           "  fix: set XDG_CACHE_HOME or HOME");
  ::setenv("HOME", before.c_str(), 1);
}

TEST_F(Model, NeedsALock) {
  fs::create_directories(modelPath(machine()) + ".lock");
  EXPECT_THAT(errorOfLoad(), HasSubstr("the rtl engine: error: cannot lock "));
  EXPECT_THAT(errorOfLoad(), HasSubstr(".so.lock\n  fix: make the cache directory writable"));
}

TEST_F(Model, SaysWhatToDoAboutAFileThatIsNoLibrary) {
  writeFile(modelPath(machine()), "no library");
  EXPECT_THAT(errorOfLoad(), testing::ContainsRegex("the model .*[.]so cannot be loaded: .*"));
  EXPECT_THAT(errorOfLoad(), HasSubstr("\n  fix: delete the file: it is built again"));
}

TEST_F(Model, SaysWhatToDoAboutALibraryThatIsNoModel) {
  ::setenv("PATH", path_.c_str(), 1);
  ASSERT_EQ(
      std::system(
          ("echo 'int nothing;' | clang-22 -shared -x c - -o " + modelPath(machine())).c_str()),
      0);
  EXPECT_THAT(errorOfLoad(),
              testing::ContainsRegex(
                  "the model .*[.]so lacks a function\n  fix: delete the file: it is built again"));
}

TEST_F(Model, RefusesCodeThatInstructionsAreNotAlignedIn) {
  Program program = cycle::assemble(machine(), "halt");
  program.codeAddress = 8;
  program.dramBytes = 64;
  DramImage image(program);
  EXPECT_EQ(errorOf([&] { run(machine(), {}, DramConfig::of(machine()), program, image, {}); }),
            "test.elf: the rtl engine: error: the code stands at 0x8, which is no multiple of an "
            "instruction's 16 bytes\n"
            "  fix: run it on --engine cycle");
}

} // namespace
} // namespace tilewright::rtl
