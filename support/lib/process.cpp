#include "tilewright/support/process.h"

#include "tilewright/support/error.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace tilewright {

namespace {

[[noreturn]] void failToStart() {
  throw UserError({}, fmt::format("cannot start a process: {}", std::strerror(errno)),
                  "end other processes, or run fewer at once");
}

void limit(__rlimit_resource what, rlim_t most) {
  const rlimit bounds{most, most};
  ::setrlimit(what, &bounds);
}

void become(int descriptor, int stream) {
  if (descriptor != stream)
    ::dup2(descriptor, stream); // which programs inherit, other than the descriptor
}

// In the new process, before its own work.
void setUp(const ProcessOptions &options, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) // which was gone before
    ::_exit(1);
  if (options.hasOwnGroup)
    ::setpgid(0, 0);
  become(options.input, STDIN_FILENO);
  become(options.output, STDOUT_FILENO);
  become(options.error, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  if (options.processorSeconds != 0)
    limit(RLIMIT_CPU, options.processorSeconds);
#if !__has_feature(address_sanitizer)
  if (options.addressSpaceBytes != 0)
    limit(RLIMIT_AS, options.addressSpaceBytes);
#endif
}

// What executes a program: all of it but the calls of the system is made before the fork, after
// which other threads may hold the allocator's locks.
std::function<int()> executionOf(const std::vector<std::string> &arguments) {
  std::vector<char *> raw;
  for (const std::string &argument : arguments)
    raw.push_back(const_cast<char *>(argument.c_str()));
  raw.push_back(nullptr);
  return [raw = std::move(raw)] {
    ::execvp(raw[0], raw.data());
    ::dprintf(STDERR_FILENO, "%s: %s\n", raw[0], std::strerror(errno));
    return 127;
  };
}

Descriptor nowhere(int flags) { return Descriptor(::open("/dev/null", flags | O_CLOEXEC)); }

std::string readAll(int descriptor) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
    if (count == 0 || (count < 0 && errno != EINTR))
      return text;
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
  }
}

ProcessOutput outputOf(const std::function<int()> &work, ProcessOptions options, bool withErrors) {
  const Descriptor nothing = nowhere(O_RDWR);
  Pipe pipe;
  options.input = nothing.get();
  options.output = pipe.in.get();
  options.error = withErrors ? pipe.in.get() : nothing.get();
  ChildProcess child(work, options);
  pipe.in.reset();
  std::string text = readAll(pipe.out.get());
  return {std::move(text), child.wait()};
}

} // namespace

ChildProcess::ChildProcess(const std::function<int()> &work, const ProcessOptions &options)
    : hasOwnGroup_(options.hasOwnGroup) {
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ < 0)
    failToStart();
  if (id_ > 0) {
    if (hasOwnGroup_)
      ::setpgid(id_, id_); // whichever of the two comes first
    return;
  }
  setUp(options, parent);
  int code = 1;
  try {
    code = work();
  } catch (...) { // nothing of the parent's is undone twice
  }
  ::_exit(code);
}

ChildProcess::ChildProcess(ChildProcess &&other) noexcept
    : id_(std::exchange(other.id_, 0)), hasOwnGroup_(other.hasOwnGroup_), end_(other.end_) {}

ChildProcess &ChildProcess::operator=(ChildProcess &&other) noexcept {
  std::swap(id_, other.id_);
  std::swap(hasOwnGroup_, other.hasOwnGroup_);
  std::swap(end_, other.end_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (id_ == 0)
    return;
  kill();
  collect(0);
}

ChildProcess ChildProcess::program(const std::vector<std::string> &arguments,
                                   const ProcessOptions &options) {
  return ChildProcess(executionOf(arguments), options);
}

void ChildProcess::collect(int flags) {
  int status = 0;
  pid_t ended = 0;
  while (!end_ && (ended = ::waitpid(id_, &status, flags)) < 0 && errno == EINTR) {
  }
  if (!end_ && ended == id_)
    end_ = {WIFEXITED(status) ? WEXITSTATUS(status) : 0,
            WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

std::optional<ProcessEnd> ChildProcess::poll() {
  collect(WNOHANG);
  return end_;
}

ProcessEnd ChildProcess::wait() {
  collect(0);
  return *end_;
}

void ChildProcess::kill() {
  if (!end_)
    ::kill(hasOwnGroup_ ? -id_ : id_, SIGKILL);
}

ProcessEnd runProgram(const std::vector<std::string> &arguments, const ProcessOptions &options) {
  return ChildProcess::program(arguments, options).wait();
}

ProcessOutput outputOf(const std::function<int()> &work, const ProcessOptions &options) {
  return outputOf(work, options, false);
}

ProcessOutput outputOf(const std::vector<std::string> &arguments, bool withErrors) {
  return outputOf(executionOf(arguments), {}, withErrors);
}

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    failToStart();
  out.reset(ends[0]);
  in.reset(ends[1]);
}

} // namespace tilewright
