// tilewright explore: an experiment's points, their results; and the commands by which it runs
// itself.
#include "explore_command.h"

#include "keep_memory.h"
#include "standard_streams.h"
#include "status_line.h"
#include "terminal.h"
#include "tilewright/explore/executor.h"
#include "tilewright/explore/experiment.h"
#include "tilewright/explore/explore.h"
#include "tilewright/explore/point.h"
#include "tilewright/support/error.h"
#include "tilewright/support/outputs.h"
#include "tilewright/support/parallel.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace tilewright {

static std::string ownPath() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

namespace {
struct Request {
  explore::Options explore;
  std::string executor = "local";
  std::string folder, key, list; // of the commands beneath
  explore::ExecutorOptions task;
  size_t slice = 1, number = 0;
};
} // namespace

static void run(Request &request) {
  explore::Options &options = request.explore;
  if (options.experiment.empty())
    throw CLI::RequiredError("EXPERIMENT");
  if (options.folder.empty())
    options.folder = std::filesystem::path(options.experiment).stem().string() + ".results";
  options.executor =
      request.executor == "slurm" ? explore::ExecutorKind::Slurm : explore::ExecutorKind::Local;
  options.tool = ownPath();
  StatusLine status;
  options.progress = [&](const std::string &line) {
    line.empty() ? status.clear() : status.show(line);
  };
  options.warning = [&](const std::string &line) {
    status.clear();
    printError("tilewright: warning: " + line + "\n");
  };
  const std::string table = explore::explore(options, terminalWidth());
  status.clear();
  print(table + fmt::format("\nresults.csv, results.json and report.html are in {}\n",
                            escape(options.folder, 4096)));
}

static void addReport(CLI::App &explore, const std::shared_ptr<Request> &request) {
  CLI::App *command = explore.add_subcommand(
      "report", "Write table, CSV, JSON and page again from a folder's results");
  command->add_option("DIR", request->folder, "Folder of an experiment's results")->required();
  command->callback([request] { print(explore::reportFolder(request->folder, terminalWidth())); });
}

// Not for users: what explore starts, and what writes explore/schema.
static void addInnerCommands(CLI::App &explore, const std::shared_ptr<Request> &request) {
  CLI::App *point = explore.add_subcommand("point", "Run one point of a folder")->group("");
  point->add_option("DIR", request->folder)->required();
  point->add_option("KEY", request->key)->required();
  point->callback([request] {
    keepMemory();
    explore::runPoint(request->folder, request->key);
  });

  CLI::App *task = explore.add_subcommand("task", "Run a slice of a list of points")->group("");
  task->add_option("DIR", request->task.folder)->required();
  task->add_option("LIST", request->list)->required();
  task->add_option("--slice", request->slice)->required();
  task->add_option("--task", request->number)->required();
  task->add_option("--seconds", request->task.limits.seconds)->required();
  task->add_option("--mebibytes", request->task.limits.mebibytes)->required();
  task->callback([request] {
    request->task.tool = ownPath();
    explore::runTask(request->task, request->list, request->number * request->slice,
                     request->slice);
  });

  CLI::App *schemas =
      explore.add_subcommand("schemas", "Write the JSON schemas of its files")->group("");
  schemas->add_option("DIR", request->folder)->required();
  schemas->callback([request] {
    Outputs outputs;
    outputs.directory("DIR", request->folder);
    auto write = [&](const char *name, const std::string &text) {
      outputs.file("DIR", request->folder + name);
      outputs.write(request->folder + name, text);
    };
    write("/experiment.json", explore::experimentSchema());
    write("/technology.json", explore::technologySchema());
    outputs.commit();
  });
}

void addExploreCommand(CLI::App &app) {
  auto request = std::make_shared<Request>();
  explore::Options &options = request->explore;
  CLI::App *command =
      app.add_subcommand("explore", "Compile, simulate and compare many machines on networks");
  command->add_option("EXPERIMENT", options.experiment, "Experiment file (.yaml)");
  command->add_option(
      "-o,--output", options.folder,
      "Folder for the results, made if need be; the default is EXPERIMENT's name with .results");
  options.processes = static_cast<int>(processorCount());
  command
      ->add_option("-j,--processes", options.processes,
                   "Points that run at once; the default is one a core")
      ->check(wholeNumber(1, 4096));
  command
      ->add_option("--executor", request->executor,
                   "Where points run: processes of this machine, or Slurm's job arrays")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  command->require_subcommand(0, 1);
  addReport(*command, request);
  addInnerCommands(*command, request);
  command->callback([request, command] {
    if (command->get_subcommands().empty())
      run(*request);
  });
}

} // namespace tilewright
