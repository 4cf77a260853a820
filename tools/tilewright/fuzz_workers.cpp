#include "fuzz_workers.h"

#include "cli.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright {

namespace {

// What a process says of one program: less than a pipe takes at once.
struct Report {
  uint64_t index = 0;
  int kind = 0;
  bool differs = false;
  uint64_t instructions = 0, cycles = 0, writes = 0, stallCycles = 0;
};

Report check(FuzzMachines &machines, const FuzzJob &job, uint64_t index) {
  const lockstep::Fuzzer &fuzzer = machines.at(index, job.seed + index).fuzzer(job.engines);
  const lockstep::Checked checked = fuzzer.check(fuzzer.make(job.seed + index, job.length));
  const lockstep::Compared &compared = checked.comparison.compared;
  Report report;
  report.index = index;
  report.kind = static_cast<int>(checked.kind);
  report.differs = checked.comparison.difference.has_value();
  report.instructions = compared.instructions;
  report.cycles = static_cast<uint64_t>(compared.cycles);
  report.writes = compared.writes;
  report.stallCycles = compared.stallCycles;
  return report;
}

// Process `first` of them takes every processes-th program.
int work(FuzzMachines &machines, const FuzzJob &job, uint64_t first, int pipe) {
  for (uint64_t index = first; index < job.count; index += static_cast<uint64_t>(job.processes)) {
    const Report report = check(machines, job, index);
    if (::write(pipe, &report, sizeof report) != static_cast<ssize_t>(sizeof report))
      return 1;
    if (report.differs)
      return 0;
  }
  return 0;
}

struct Worker {
  pid_t process = 0;
  int pipe = -1;
  uint64_t next = 0; // program that it is at
  bool done = false;
};

class Workers {
public:
  Workers(FuzzMachines &machines, const FuzzJob &job) : job_(job) {
    for (int i = 0; i < job.processes; ++i) {
      int ends[2];
      if (::pipe(ends) != 0)
        throw std::runtime_error("cannot make a pipe");
      const pid_t process = ::fork();
      if (process < 0)
        throw std::runtime_error("cannot start a process");
      if (process == 0) {
        ::close(ends[0]);
        // The process ends here: nothing of the parent's is undone twice.
        ::_exit(guarded([&] { return work(machines, job, static_cast<uint64_t>(i), ends[1]); }));
      }
      ::close(ends[1]);
      workers_.push_back({process, ends[0], static_cast<uint64_t>(i), false});
    }
  }
  Workers(const Workers &) = delete;
  ~Workers() {
    for (Worker &worker : workers_)
      if (!worker.done)
        end(worker, true);
  }

  FuzzTally run(const std::function<void(uint64_t)> &progress) {
    while (std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker &worker) { return !worker.done; })) {
      std::vector<pollfd> polled;
      std::vector<Worker *> from;
      for (Worker &worker : workers_)
        if (!worker.done) {
          polled.push_back({worker.pipe, POLLIN, 0});
          from.push_back(&worker);
        }
      if (::poll(polled.data(), polled.size(), 1000) < 0 && errno != EINTR)
        throw std::runtime_error("cannot wait for a process");
      for (size_t i = 0; i < polled.size(); ++i)
        if (polled[i].revents != 0)
          receive(*from[i]);
      progress(reports_.size());
    }
    return tally();
  }

private:
  void receive(Worker &worker) {
    Report report;
    if (::read(worker.pipe, &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
      reports_[report.index] = report;
      worker.next = report.index + static_cast<uint64_t>(job_.processes);
      if (report.differs)
        firstBad_ = std::min(firstBad_, report.index);
    } else {
      const int status = end(worker, false);
      if (status != 0 && worker.next < firstBad_) { // it has said why
        firstBad_ = worker.next;
        ended_ = true;
      }
    }
    // What comes after the first bad program is of no account.
    for (Worker &other : workers_)
      if (!other.done && other.next > firstBad_)
        end(other, true);
  }

  static int end(Worker &worker, bool kills) {
    if (kills)
      ::kill(worker.process, SIGKILL);
    int status = 0;
    while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(worker.pipe);
    worker.done = true;
    return kills ? 0 : status;
  }

  FuzzTally tally() const {
    FuzzTally tally;
    for (const auto &[index, report] : reports_) {
      if (index >= firstBad_)
        break;
      ++tally.programs;
      ++tally.kinds[report.kind];
      tally.instructions += report.instructions;
      tally.cycles += report.cycles;
      tally.writes += report.writes;
      tally.stallCycles += report.stallCycles;
    }
    if (firstBad_ != UINT64_MAX) {
      tally.different = firstBad_;
      tally.ended = ended_ && reports_.count(firstBad_) == 0;
    }
    return tally;
  }

  const FuzzJob &job_;
  std::vector<Worker> workers_;
  std::map<uint64_t, Report> reports_;
  uint64_t firstBad_ = UINT64_MAX;
  bool ended_ = false;
};

} // namespace

FuzzTally runFuzz(FuzzMachines &machines, const FuzzJob &job,
                  const std::function<void(uint64_t programs)> &progress) {
  return Workers(machines, job).run(progress);
}

} // namespace tilewright
