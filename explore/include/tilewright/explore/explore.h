// `tilewright explore`: from an experiment file to its results.
//
// 1. Workloads become integer TOSA, once; settings become machines, or a reason why they are none.
// 2. The analytical tier gives every legal point its figures.
// 3. Points whose records are not in the folder's database run, each in its own process.
// 4. What the folder knows becomes a table, results.csv, results.json and report.html; the same
//    experiment gives the same bytes, wherever its points ran and however often it was stopped.
#pragma once

#include <functional>
#include <string>

namespace tilewright::explore {

enum class ExecutorKind { Local, Slurm };

struct Options {
  std::string experiment; // file
  std::string folder;
  int processes = 1;
  ExecutorKind executor = ExecutorKind::Local;
  std::string tool;                                      // the program that points are run by
  std::function<void(const std::string &line)> progress; // what is going on; replaced by the next
  std::function<void(const std::string &line)> warning;
};

// Throws UserError. Gives the table for the terminal.
std::string explore(const Options &options, int width);

// The same from what a folder holds already.
std::string reportFolder(const std::string &folder, int width);

} // namespace tilewright::explore
