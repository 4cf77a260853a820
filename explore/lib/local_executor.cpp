#include "tilewright/explore/executor.h"

#include "tilewright/explore/point.h"
#include "tilewright/support/files.h"
#include "tilewright/support/process.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace tilewright::explore {

namespace {

using Clock = std::chrono::steady_clock;

struct Point {
  std::string key;
  ChildProcess process;
  Clock::time_point begin;
  bool isLate = false;
};

bool exists(const std::string &path) { return ::access(path.c_str(), F_OK) == 0; }

// The first line that the process said of its failure.
std::string saidBy(const ExecutorOptions &options, const std::string &key) {
  const std::string log = readFile(logFile(options.folder, key), 1 << 24);
  return escape(log.substr(0, log.find('\n')), 300);
}

std::string recordOf(const ExecutorOptions &options, const Point &point, const ProcessEnd &end) {
  if (point.isLate)
    return failedRecord("timeout", fmt::format("did not end within {} s", options.limits.seconds));
  if (end.signal != 0)
    return failedRecord(
        "crash", fmt::format("ended by signal {} ({})", end.signal, ::strsignal(end.signal)));
  const std::string said = saidBy(options, point.key);
  if (end.code == 1 && said.find("not enough memory") != std::string::npos)
    return failedRecord("memory", "not enough memory");
  return failedRecord("crash", fmt::format("exit code {}: {}", end.code, said));
}

class LocalExecutor : public Executor {
public:
  explicit LocalExecutor(const ExecutorOptions &options) : options_(options) {}

  void run(const std::vector<std::string> &keys,
           const std::function<void(const std::string &)> &ended,
           const std::function<void()> &waiting) override {
    size_t next = 0;
    while (next < keys.size() || !points_.empty()) {
      while (next < keys.size() && points_.size() < static_cast<size_t>(options_.processes))
        start(keys[next++]);
      if (!collect(ended)) {
        waiting();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

private:
  void start(const std::string &key) {
    const Descriptor log(::open(logFile(options_.folder, key).c_str(),
                                O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ProcessOptions options;
    options.input = nothing.get();
    options.output = options.error = log.get();
    options.addressSpaceBytes = static_cast<uint64_t>(options_.limits.mebibytes) << 20;
    options.hasOwnGroup = true;
    points_.push_back(
        {key,
         ChildProcess::program({options_.tool, "explore", "point", options_.folder, key}, options),
         Clock::now()});
  }

  // Whether a point has ended.
  bool collect(const std::function<void(const std::string &)> &ended) {
    for (auto point = points_.begin(); point != points_.end(); ++point) {
      if (const std::optional<ProcessEnd> end = point->process.poll()) {
        const std::string key = point->key;
        // Without a spec, the record has been taken already.
        if (!exists(recordFile(options_.folder, key)) && exists(specFile(options_.folder, key)))
          writeFile(recordFile(options_.folder, key), recordOf(options_, *point, *end));
        points_.erase(point);
        ::unlink(logFile(options_.folder, key).c_str());
        ended(key);
        return true;
      }
      if (!point->isLate &&
          Clock::now() - point->begin > std::chrono::seconds(options_.limits.seconds)) {
        point->isLate = true;
        point->process.kill();
      }
    }
    return false;
  }

  const ExecutorOptions options_;
  std::vector<Point> points_;
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
