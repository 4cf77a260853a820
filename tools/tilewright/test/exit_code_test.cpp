// Whatever happens becomes an exit code, and our own mistakes leave a reproducer.
#include "exit_code.h"

#include "check_failed.h"
#include "cli.h"
#include "reproducer.h"
#include "tilewright/support/error.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <sstream>
#include <stdexcept>

using namespace tilewright;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

namespace {

class ExitCode : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tilewright-exit-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream(directory_ / "model.onnx") << "the model";
    ::setenv("TMPDIR", directory_.c_str(), 1);
    model_ = (directory_ / "model.onnx").string();
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    fs::remove_all(directory_);
  }

  // What guarded() prints and gives, as a tool with the arguments `run MODEL --input x=MODEL`.
  int guardedCode(const std::function<int()> &run) {
    setArguments();
    testing::internal::CaptureStderr();
    int code = guarded(run);
    diagnostics_ = testing::internal::GetCapturedStderr();
    restoreSignals();
    return code;
  }

  void setArguments() {
    static std::string tool = "tilewright", command = "run", input;
    input = "x=" + model_;
    static char *arguments[] = {nullptr, nullptr, nullptr, nullptr, nullptr};
    arguments[0] = tool.data();
    arguments[1] = command.data();
    arguments[2] = model_.data();
    arguments[3] = input.data();
    catchCrashes(4, arguments);
  }

  static void restoreSignals() {
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
      std::signal(signal, SIG_DFL);
  }

  std::vector<fs::path> reproducers() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(directory_))
      if (entry.is_directory())
        found.push_back(entry.path());
    return found;
  }

  static std::string contentOf(const fs::path &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path directory_;
  std::string model_;
  std::string diagnostics_;
};

TEST_F(ExitCode, isTheCommandsOwn) {
  EXPECT_EQ(guardedCode([] { return 5; }), 5);
  EXPECT_EQ(diagnostics_, "");
}

TEST_F(ExitCode, isOneForAUsersMistake) {
  EXPECT_EQ(
      guardedCode([]() -> int { throw UserError({"m.onnx", 3, 4, ""}, "is wrong", "mend it"); }),
      1);
  EXPECT_EQ(diagnostics_, "m.onnx:3:4: error: is wrong\n  fix: mend it\n");
  EXPECT_TRUE(reproducers().empty());
}

TEST_F(ExitCode, isThreeForAFailedCheck) {
  EXPECT_EQ(guardedCode([]() -> int { throw CheckFailed("p.elf: different: y"); }), 3);
  EXPECT_EQ(diagnostics_, "p.elf: different: y\n");
}

TEST_F(ExitCode, isOneWhenMemoryRunsOut) {
  EXPECT_EQ(guardedCode([]() -> int { throw std::bad_alloc(); }), 1);
  EXPECT_EQ(diagnostics_, "tilewright: error: not enough memory\n"
                          "  fix: raise the memory limit (ulimit -v), or give a smaller input\n");
}

TEST_F(ExitCode, isSeventyForAnythingElse) {
  EXPECT_EQ(guardedCode([]() -> int { throw std::logic_error("this\ncannot be"); }), 70);
  EXPECT_THAT(
      diagnostics_,
      testing::StartsWith(
          "tilewright: error: internal error: this\\x0acannot be\n"
          "  fix: this is a mistake of tilewright; please report it with the reproducer in " +
          directory_.string()));
}

TEST_F(ExitCode, isSeventyForWhatIsNoException) {
  EXPECT_EQ(guardedCode([]() -> int { throw 1; }), 70);
  EXPECT_THAT(diagnostics_, HasSubstr("internal error: an exception of unknown type\n"));
}

TEST_F(ExitCode, comesWithAReproducerOfOurMistakes) {
  guardedCode([]() -> int { throw std::logic_error("x"); });
  ASSERT_EQ(reproducers().size(), 1u);
  fs::path reproducer = reproducers()[0];
  EXPECT_THAT(contentOf(reproducer / "command.txt"),
              HasSubstr("arguments, one a line:\ntilewright\nrun\n" + model_ + "\n"));
  EXPECT_EQ(contentOf(reproducer / "2-model.onnx"), "the model");
  EXPECT_EQ(contentOf(reproducer / "3-model.onnx"), "the model"); // of x=FILE
}

#if !__has_feature(address_sanitizer)
using ExitCodeDeathTest = ExitCode;

TEST_F(ExitCodeDeathTest, isSeventyForACrash) {
  auto crash = [&] {
    setArguments();
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(70),
              "internal error: segmentation fault\n  fix: .*please report it");
  EXPECT_EQ(reproducers().size(), 1u);
}

TEST_F(ExitCodeDeathTest, isSeventyForAnAbort) {
  auto crash = [&] {
    setArguments();
    std::abort();
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(70), "internal error: abort");
}
#endif

} // namespace
