// Points as tasks of job arrays.
//
// 1. Jobs of an earlier call that Slurm still knows are waited for; their points are not submitted
//    again (jobs/ID.job lists them).
// 2. The other points go into a list, and sbatch gets an array over slices of it. A task runs its
//    slice as the local executor does, so that records are the same.
// 3. Records that appear are handed over. When a job is gone and points of it have none, something
//    other than the points has failed: the call ends, and the next one runs them.
#include "tilewright/explore/executor.h"

#include "tilewright/explore/point.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/process.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <thread>
#include <unistd.h>

namespace tilewright::explore {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t mostTasks = 1000; // MaxArraySize is 1001 unless configured
constexpr std::chrono::milliseconds pause(100);
constexpr std::chrono::seconds pauseOfQueue(2);

// For the shell.
std::string quoted(const std::string &text) {
  std::string out = "'";
  for (const char each : text)
    out += each == '\'' ? "'\\''" : std::string(1, each);
  return out + "'";
}

struct Answer {
  bool isGood = false;
  std::string text; // standard output and error
};

Answer ask(const std::vector<std::string> &command) {
  ProcessOutput output = outputOf(command, /*withErrors=*/true);
  while (!output.text.empty() && output.text.back() == '\n')
    output.text.pop_back();
  return {output.end.isSuccess(), std::move(output.text)};
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Slurm forgets a job that has ended after a while, and says so of an invalid one alike.
bool isInQueue(const std::string &job) {
  const Answer answer = ask({"squeue", "--noheader", "--format=%A", "--jobs=" + job});
  return answer.isGood ? !answer.text.empty()
                       : answer.text.find("Invalid job id") == std::string::npos;
}

class SlurmExecutor : public Executor {
public:
  explicit SlurmExecutor(const ExecutorOptions &options) : options_(options) {
    const Answer answer = ask({"sbatch", "--version"});
    if (!answer.isGood)
      throw UserError({}, fmt::format("there is no Slurm here: {}", escape(answer.text)),
                      "install the package slurm-client, or leave out --executor");
  }

  void run(const std::vector<std::string> &keys,
           const std::function<void(const std::string &)> &ended,
           const std::function<void()> &waiting) override {
    pending_.insert(keys.begin(), keys.end());
    findJobs();
    submit(keys);
    Clock::time_point asked = Clock::now();
    while (!pending_.empty()) {
      handOver(ended);
      waiting();
      if (Clock::now() - asked >= pauseOfQueue) {
        forgetEndedJobs(ended);
        asked = Clock::now();
      }
      std::this_thread::sleep_for(pause);
    }
    for (const auto &[job, points] : jobs_)
      fs::remove(jobFile(job));
  }

private:
  std::string jobFile(const std::string &job) const {
    return options_.folder + "/jobs/" + job + ".job";
  }

  // Those of an earlier call.
  void findJobs() {
    for (const auto &entry : fs::directory_iterator(options_.folder + "/jobs"))
      if (entry.path().extension() == ".job") {
        const std::string job = entry.path().stem().string();
        if (isInQueue(job))
          jobs_[job] = linesOf(readFile(entry.path().string()));
        else
          fs::remove(entry.path());
      }
  }

  bool isSubmitted(const std::string &key) const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto &job) {
      return std::find(job.second.begin(), job.second.end(), key) != job.second.end();
    });
  }

  void submit(const std::vector<std::string> &keys) {
    std::vector<std::string> wanted;
    for (const std::string &key : keys)
      if (!isSubmitted(key))
        wanted.push_back(key);
    if (wanted.empty())
      return;
    const std::string text = fmt::format("{}\n", fmt::join(wanted, "\n"));
    const std::string list = options_.folder + "/jobs/" + sha256(text).substr(0, 32) + ".list";
    writeFile(list, text);
    // A few slices for each process that runs at once, so that all end at about the same time.
    const size_t most = std::min(mostTasks, static_cast<size_t>(options_.processes) * 8);
    const size_t slice = (wanted.size() + most - 1) / most,
                 tasks = (wanted.size() + slice - 1) / slice;
    const std::string task =
        fmt::format("exec {} explore task {} {} --slice {} --task $SLURM_ARRAY_TASK_ID --seconds "
                    "{} --mebibytes {}",
                    quoted(options_.tool), quoted(options_.folder), quoted(list), slice,
                    options_.limits.seconds, options_.limits.mebibytes);
    const Answer answer =
        ask({"sbatch", "--parsable", "--job-name=tilewright",
             fmt::format("--array=0-{}%{}", tasks - 1, options_.processes),
             "--output=" + options_.folder + "/jobs/%A_%a.log", "--wrap=" + task});
    const std::string job = answer.text.substr(0, answer.text.find(';'));
    if (!answer.isGood || job.empty() || job.find_first_not_of("0123456789") != std::string::npos)
      throw UserError({},
                      fmt::format("sbatch does not take the points: {}", escape(answer.text, 400)),
                      "see what `sinfo` says");
    writeFile(jobFile(job), text);
    jobs_[job] = wanted;
  }

  void handOver(const std::function<void(const std::string &)> &ended) {
    std::vector<std::string> done;
    for (const std::string &key : pending_)
      if (::access(recordFile(options_.folder, key).c_str(), F_OK) == 0)
        done.push_back(key);
    for (const std::string &key : done) {
      pending_.erase(key);
      ended(key);
    }
  }

  void forgetEndedJobs(const std::function<void(const std::string &)> &ended) {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      if (isInQueue(job->first)) {
        ++job;
        continue;
      }
      handOver(ended);
      const auto left =
          std::count_if(job->second.begin(), job->second.end(),
                        [&](const std::string &key) { return pending_.count(key) != 0; });
      const std::string name = job->first;
      fs::remove(jobFile(name));
      job = jobs_.erase(job);
      if (left > 0)
        throw UserError(
            {},
            fmt::format("Slurm job {} has ended, and {} of its points have no result", name, left),
            fmt::format("see {}/jobs/{}_*.log; the same command runs these points again",
                        options_.folder, name));
    }
  }

  const ExecutorOptions options_;
  std::set<std::string> pending_;
  std::map<std::string, std::vector<std::string>> jobs_; // points by job
};

} // namespace

std::unique_ptr<Executor> makeSlurmExecutor(const ExecutorOptions &options) {
  return std::make_unique<SlurmExecutor>(options);
}

} // namespace tilewright::explore
