#include "fuzz_workers.h"

#include "cli.h"

#include "tilewright/support/process.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <poll.h>
#include <stdexcept>
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
  ChildProcess process;
  Descriptor reports;
  uint64_t next = 0; // program that it is at
  bool done = false;
};

class Workers {
public:
  Workers(FuzzMachines &machines, const FuzzJob &job) : job_(job) {
    for (int i = 0; i < job.processes; ++i) {
      Pipe pipe;
      const auto first = static_cast<uint64_t>(i);
      ChildProcess process(
          [&] { return guarded([&] { return work(machines, job, first, pipe.in.get()); }); });
      workers_.push_back({std::move(process), std::move(pipe.out), first});
    }
  }

  FuzzTally run(const std::function<void(uint64_t)> &progress) {
    while (std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker &worker) { return !worker.done; })) {
      std::vector<pollfd> polled;
      std::vector<Worker *> from;
      for (Worker &worker : workers_)
        if (!worker.done) {
          polled.push_back({worker.reports.get(), POLLIN, 0});
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
    if (::read(worker.reports.get(), &report, sizeof report) ==
        static_cast<ssize_t>(sizeof report)) {
      reports_[report.index] = report;
      worker.next = report.index + static_cast<uint64_t>(job_.processes);
      if (report.differs)
        firstBad_ = std::min(firstBad_, report.index);
    } else {
      worker.done = true;
      if (!worker.process.wait().isSuccess() && worker.next < firstBad_) { // it has said why
        firstBad_ = worker.next;
        ended_ = true;
      }
    }
    // What comes after the first bad program is of no account.
    for (Worker &other : workers_)
      if (!other.done && other.next > firstBad_) {
        other.process.kill();
        other.done = true;
      }
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
