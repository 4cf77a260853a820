// ctest -R Process: programs and own code in child processes.
#include "tilewright/support/process.h"

#include "tilewright/support/error.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>

namespace tilewright {
namespace {

ProcessOutput shell(const std::string &script, bool withErrors = false) {
  return outputOf({"/bin/sh", "-c", script}, withErrors);
}

// Waits, for as long as that takes on a busy machine, until nobody has the pipe's other end.
bool isClosed(const Descriptor &out) {
  char byte = 0;
  return ::read(out.get(), &byte, 1) == 0;
}

TEST(Process, TellsHowAProgramEnds) {
  EXPECT_TRUE(runProgram({"/bin/sh", "-c", "exit 0"}).isSuccess());
  const ProcessEnd failed = runProgram({"/bin/sh", "-c", "exit 3"});
  EXPECT_EQ(failed.code, 3);
  EXPECT_EQ(failed.signal, 0);
  const ProcessEnd killed = runProgram({"/bin/sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(killed.signal, SIGTERM);
  EXPECT_FALSE(killed.isSuccess());
}

TEST(Process, GivesArgumentsAsTheyAre) {
  EXPECT_EQ(outputOf({"/bin/echo", "a b", "$HOME", "'\""}, false).text, "a b $HOME '\"\n");
}

TEST(Process, FindsProgramsInThePath) { EXPECT_EQ(outputOf({"echo", "x"}, false).text, "x\n"); }

TEST(Process, SaysWhatCannotBeExecuted) {
  const ProcessOutput output = outputOf({"/nowhere/program"}, true);
  EXPECT_EQ(output.end.code, 127);
  EXPECT_EQ(output.text, "/nowhere/program: No such file or directory\n");
}

TEST(Process, TakesErrorsIntoTheOutputIfWanted) {
  EXPECT_EQ(shell("echo a; echo b >&2", true).text, "a\nb\n");
  EXPECT_EQ(shell("echo a; echo b >&2", false).text, "a\n");
}

TEST(Process, GivesAProgramNothingToRead) { EXPECT_EQ(shell("cat; echo end").text, "end\n"); }

TEST(Process, TakesMoreThanAPipeHolds) {
  EXPECT_EQ(shell("head -c 1000000 /dev/zero").text.size(), 1000000u);
}

TEST(Process, RunsOwnCode) {
  const ProcessOutput output = outputOf(
      [] {
        std::puts("from the child");
        std::fflush(stdout);
        return 5;
      },
      {});
  EXPECT_EQ(output.text, "from the child\n");
  EXPECT_EQ(output.end.code, 5);
}

TEST(Process, EndsOwnCodeThatThrows) {
  ChildProcess child([]() -> int { throw std::runtime_error("lost"); });
  EXPECT_EQ(child.wait().code, 1);
}

TEST(Process, SurvivesOwnCodeThatCrashes) {
  ChildProcess child([]() -> int {
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  });
  EXPECT_EQ(child.wait().signal, SIGABRT);
}

TEST(Process, TellsAnEndWithoutWaiting) {
  Pipe pipe;
  ChildProcess child([&] {
    pipe.in.reset();
    return isClosed(pipe.out) ? 4 : 1;
  });
  EXPECT_FALSE(child.poll());
  pipe.in.reset();
  while (!child.poll())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(child.poll()->code, 4);
  EXPECT_EQ(child.wait().code, 4);
}

TEST(Process, LeavesNoChildBehind) {
  Pipe pipe;
  ProcessOptions options;
  options.output = pipe.in.get();
  {
    const ChildProcess child = ChildProcess::program({"/bin/sleep", "1000"}, options);
    pipe.in.reset();
  }
  EXPECT_TRUE(isClosed(pipe.out));
}

TEST(Process, EndsWithItsParent) {
  Pipe pipe;
  ProcessOptions options;
  options.output = pipe.in.get();
  ChildProcess parent([&]() -> int {
    const ChildProcess child = ChildProcess::program({"/bin/sleep", "1000"}, options);
    ::_exit(0); // without the destructor
  });
  pipe.in.reset();
  parent.wait();
  EXPECT_TRUE(isClosed(pipe.out));
}

TEST(Process, AGroupIsKilledAsAWhole) {
  Pipe pipe;
  ProcessOptions options;
  options.output = pipe.in.get();
  options.hasOwnGroup = true;
  ChildProcess child = ChildProcess::program({"/bin/sh", "-c", "sleep 1000 & echo; wait"}, options);
  pipe.in.reset();
  char byte = 0;
  ASSERT_EQ(::read(pipe.out.get(), &byte, 1), 1); // it has started the other
  child.kill();
  EXPECT_TRUE(isClosed(pipe.out));
  EXPECT_EQ(child.wait().signal, SIGKILL);
}

TEST(Process, HasItsLimits) {
  ProcessOptions options;
  options.processorSeconds = 7;
  options.addressSpaceBytes = uint64_t(1) << 40;
  const ProcessOutput output = outputOf(
      [] {
        rlimit core{}, seconds{}, bytes{};
        ::getrlimit(RLIMIT_CORE, &core);
        ::getrlimit(RLIMIT_CPU, &seconds);
        ::getrlimit(RLIMIT_AS, &bytes);
#if __has_feature(address_sanitizer)
        bytes.rlim_cur = rlim_t(1) << 40; // is not limited
#endif
        return core.rlim_cur == 0 && seconds.rlim_cur == 7 && bytes.rlim_cur == rlim_t(1) << 40 ? 0
                                                                                                : 1;
      },
      options);
  EXPECT_TRUE(output.end.isSuccess());
}

TEST(Process, SaysThatNoneCanBeStarted) {
  const ProcessOutput output = outputOf(
      [] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_NOFILE, &none);
        try {
          Pipe pipe;
        } catch (const UserError &error) {
          std::fputs(error.what(), stdout);
          std::fflush(stdout);
        }
        return 0;
      },
      {});
  EXPECT_EQ(output.text, "tilewright: error: cannot start a process: Too many open files\n"
                         "  fix: end other processes, or run fewer at once");
}

} // namespace
} // namespace tilewright
