#include "tilewright/explore/executor.h"

#include "tilewright/explore/point.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tilewright::explore {

namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t process = 0;
  std::string key;
  Clock::time_point begin;
  bool isLate = false;
};

// In the new process: limits, its log as standard output and error, and an end with its parent.
[[noreturn]] void become(const ExecutorOptions &options, const std::string &key, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) // which was gone before
    ::_exit(1);
  ::setpgid(0, 0);
  const struct rlimit core{0, 0};
  ::setrlimit(RLIMIT_CORE, &core);
#if !__has_feature(address_sanitizer) // which maps more than any limit allows
  const rlim_t bytes = static_cast<rlim_t>(options.limits.mebibytes) << 20;
  const struct rlimit memory{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const int log = ::open(logFile(options.folder, key).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execl(options.tool.c_str(), "tilewright", "explore", "point", options.folder.c_str(),
          key.c_str(), nullptr);
  ::_exit(127);
}

bool exists(const std::string &path) { return ::access(path.c_str(), F_OK) == 0; }

// The first line that the process said of its failure.
std::string saidBy(const ExecutorOptions &options, const std::string &key) {
  const std::string log = readFile(logFile(options.folder, key), 1 << 24);
  return escape(log.substr(0, log.find('\n')), 300);
}

std::string recordOf(const ExecutorOptions &options, const Child &child, int status) {
  if (child.isLate)
    return failedRecord("timeout", fmt::format("did not end within {} s", options.limits.seconds));
  if (WIFSIGNALED(status))
    return failedRecord("crash", fmt::format("ended by signal {} ({})", WTERMSIG(status),
                                             ::strsignal(WTERMSIG(status))));
  const std::string said = saidBy(options, child.key);
  if (WEXITSTATUS(status) == 1 && said.find("not enough memory") != std::string::npos)
    return failedRecord("memory", "not enough memory");
  return failedRecord("crash", fmt::format("exit code {}: {}", WEXITSTATUS(status), said));
}

class LocalExecutor : public Executor {
public:
  explicit LocalExecutor(const ExecutorOptions &options) : options_(options) {}
  ~LocalExecutor() override {
    for (const Child &child : children_) {
      ::kill(-child.process, SIGKILL);
      int status = 0;
      while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
      }
    }
  }

  void run(const std::vector<std::string> &keys,
           const std::function<void(const std::string &)> &ended,
           const std::function<void()> &waiting) override {
    size_t next = 0;
    while (next < keys.size() || !children_.empty()) {
      while (next < keys.size() && children_.size() < static_cast<size_t>(options_.processes))
        start(keys[next++]);
      if (!collect(ended)) {
        waiting();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

private:
  void start(const std::string &key) {
    const pid_t parent = ::getpid(), process = ::fork();
    if (process < 0)
      throw UserError({}, fmt::format("cannot start a process: {}", std::strerror(errno)),
                      "give a smaller -j");
    if (process == 0)
      become(options_, key, parent);
    children_.push_back({process, key, Clock::now()});
  }

  // Whether a child has ended.
  bool collect(const std::function<void(const std::string &)> &ended) {
    for (auto child = children_.begin(); child != children_.end(); ++child) {
      int status = 0;
      if (::waitpid(child->process, &status, WNOHANG) == child->process) {
        const Child done = *child;
        children_.erase(child);
        // Without a spec, the record has been taken already.
        if (!exists(recordFile(options_.folder, done.key)) &&
            exists(specFile(options_.folder, done.key)))
          writeFile(recordFile(options_.folder, done.key), recordOf(options_, done, status));
        ::unlink(logFile(options_.folder, done.key).c_str());
        ended(done.key);
        return true;
      }
      if (!child->isLate &&
          Clock::now() - child->begin > std::chrono::seconds(options_.limits.seconds)) {
        child->isLate = true;
        ::kill(-child->process, SIGKILL);
      }
    }
    return false;
  }

  const ExecutorOptions options_;
  std::vector<Child> children_;
};

} // namespace

std::unique_ptr<Executor> makeLocalExecutor(const ExecutorOptions &options) {
  return std::make_unique<LocalExecutor>(options);
}

void runTask(const ExecutorOptions &options, const std::string &list, size_t first, size_t count) {
  const std::string text = readFile(list);
  std::vector<std::string> keys;
  size_t line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string key = text.substr(begin, end - begin);
    // A task that Slurm starts again has run some: their specs, or records, tell.
    if (line >= first && line < first + count && exists(specFile(options.folder, key)) &&
        !exists(recordFile(options.folder, key)))
      keys.push_back(key);
    begin = end + 1;
  }
  LocalExecutor(options).run(keys, [](const std::string &) {}, [] {});
}

} // namespace tilewright::explore
