// Everything below a signal handler uses system calls and static storage only: the heap may be what
// is broken.
#include "reproducer.h"

#include "exit_code.h"
#include "tilewright/support/files.h"
#include "version.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

static int argumentCount = 0;
static char **arguments = nullptr;
static const char *temporaryDirectory = nullptr;

// Together; larger inputs are named in command.txt only.
static constexpr int64_t maxCopiedBytes = int64_t(256) << 20;

namespace {
// A string of fixed capacity; what does not fit is cut off.
class FixedText {
public:
  FixedText &add(const char *text) {
    while (*text && size_ + 1 < sizeof text_)
      text_[size_++] = *text++;
    text_[size_] = '\0';
    return *this;
  }
  FixedText &add(uint64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do
      digits[--at] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    return add(digits + at);
  }
  const char *str() const { return text_; }

private:
  char text_[4096] = {};
  size_t size_ = 0;
};
} // namespace

static bool writeText(int fd, const char *text, size_t size) {
  while (size > 0) {
    ssize_t count = ::write(fd, text, size);
    if (count <= 0)
      return false;
    text += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

static void writeText(int fd, const char *text) { writeText(fd, text, std::strlen(text)); }

// The last 64 characters of the argument's file name, with anything unusual replaced.
static void addFileName(FixedText &path, const char *argument) {
  const char *slash = std::strrchr(argument, '/');
  const char *name = slash ? slash + 1 : argument;
  size_t length = std::strlen(name);
  name += length > 64 ? length - 64 : 0;
  for (; *name; ++name) {
    bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                 (*name >= '0' && *name <= '9') || *name == '.' || *name == '-' || *name == '_';
    char one[2] = {plain ? *name : '_', '\0'};
    path.add(one);
  }
}

// Copies `from`, when it is a regular file that still fits, to `directory`/NN-name.
static void copyInput(const char *directory, int number, const char *from, int64_t &left) {
  int in = ::open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (in < 0)
    return;
  struct stat info;
  if (::fstat(in, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= left) {
    left -= info.st_size;
    FixedText path;
    path.add(directory).add("/").add(static_cast<uint64_t>(number)).add("-");
    addFileName(path, from);
    int out = ::open(path.str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out >= 0) {
      static char buffer[65536];
      for (ssize_t count; (count = ::read(in, buffer, sizeof buffer)) > 0;)
        if (!writeText(out, buffer, static_cast<size_t>(count)))
          break;
      ::close(out);
    }
  }
  ::close(in);
}

static bool makeDirectory(FixedText &directory) {
  const char *parents[] = {temporaryDirectory, "/tmp", "."};
  for (const char *parent : parents) {
    if (!parent || !*parent)
      continue;
    FixedText candidate;
    candidate.add(parent).add("/tilewright-crash-").add(static_cast<uint64_t>(::getpid()));
    if (::mkdir(candidate.str(), 0700) == 0) {
      directory = candidate;
      return true;
    }
  }
  return false;
}

static void save(const char *directory, const char *what) {
  FixedText path;
  path.add(directory).add("/command.txt");
  int fd = ::open(path.str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  writeText(fd, "tilewright " TILEWRIGHT_VERSION "\nfailure: ");
  writeText(fd, what);
  writeText(fd, "\narguments, one a line:\n");
  for (int i = 0; i < argumentCount; ++i) {
    writeText(fd, arguments[i]);
    writeText(fd, "\n");
  }
  ::close(fd);
  int64_t left = maxCopiedBytes;
  for (int i = 1; i < argumentCount; ++i) {
    // `--input x=file` names a file too.
    const char *equals = std::strchr(arguments[i], '=');
    copyInput(directory, i, arguments[i], left);
    if (equals)
      copyInput(directory, i, equals + 1, left);
  }
}

void reportInternalError(const char *what) {
  writeText(STDERR_FILENO, "tilewright: error: internal error: ");
  writeText(STDERR_FILENO, what);
  FixedText directory;
  if (makeDirectory(directory)) {
    save(directory.str(), what);
    writeText(STDERR_FILENO,
              "\n  fix: this is a mistake of tilewright; please report it with the reproducer in ");
    writeText(STDERR_FILENO, directory.str());
    writeText(STDERR_FILENO, "\n");
  } else {
    writeText(
        STDERR_FILENO,
        "\n  fix: this is a mistake of tilewright; please report it with the command line (no "
        "reproducer could be saved)\n");
  }
}

[[maybe_unused]] static const char *signalName(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "segmentation fault";
  case SIGBUS:
    return "bus error";
  case SIGILL:
    return "illegal instruction";
  case SIGFPE:
    return "arithmetic fault";
  default:
    return "abort";
  }
}

[[maybe_unused]] static void onCrash(int signal) {
  // A second fault, here, ends the process by the default action.
  ::signal(signal, SIG_DFL);
  removeUnfinishedFile();
  reportInternalError(signalName(signal));
  ::_exit(exitcode::ourMistake);
}

void catchCrashes(int argc, char **argv) {
  argumentCount = argc;
  arguments = argv;
  temporaryDirectory = std::getenv("TMPDIR");
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
  // A stack overflow leaves no stack to handle it on.
  static char stack[65536];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    ::sigaction(signal, &action, nullptr);
#endif
}

} // namespace tilewright
