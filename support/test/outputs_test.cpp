// What a command writes is there whole at the end, or nothing of it is.
#include "outputs_fixture.h"

#include "tilewright/support/files.h"
#include "tilewright/support/process.h"

#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace tilewright {
namespace {

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

TEST_F(OutputsTest, keepTheModeOfWhatTheyReplace) {
  writeFile(path("a"), "old");
  ::chmod(path("a").c_str(), 0600);
  Outputs outputs;
  outputs.file("-a", path("a"));
  outputs.write(path("a"), "new");
  outputs.commit();
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
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
} // namespace tilewright
