// Where the processes of points run. Whatever ends one, its record is written: the executor writes
// it for a process that could not.
#pragma once

#include "tilewright/explore/experiment.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::explore {

struct ExecutorOptions {
  std::string tool;   // the program `tilewright`
  std::string folder; // with the specs of the points
  int processes = 1;  // at once; of Slurm: tasks of a job array
  Limits limits;
};

class Executor {
public:
  virtual ~Executor() = default;
  // Calls `ended` for each key once its record is written, in any order, and `waiting` now and
  // then.
  virtual void run(const std::vector<std::string> &keys,
                   const std::function<void(const std::string &key)> &ended,
                   const std::function<void()> &waiting) = 0;
};

// Processes of this machine. They end with the process that calls `run`.
std::unique_ptr<Executor> makeLocalExecutor(const ExecutorOptions &options);
// Job arrays by sbatch. Jobs go on when the caller ends: another one that runs the same points
// waits for them. Throws UserError where there is no Slurm.
std::unique_ptr<Executor> makeSlurmExecutor(const ExecutorOptions &options);

// A task of a job array: points of the file `list`, from line `first` on.
void runTask(const ExecutorOptions &options, const std::string &list, size_t first, size_t count);

} // namespace tilewright::explore
