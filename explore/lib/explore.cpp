#include "tilewright/explore/explore.h"

#include "check.h"
#include "folder.h"
#include "guide.h"
#include "planner.h"
#include "point_database.h"
#include "progress.h"
#include "results.h"
#include "screen.h"

#include "tilewright/explore/executor.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/outputs.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tilewright::explore {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr size_t batch = 8; // settings of the guided search that are looked at together

std::string planFile(const std::string &folder) { return folder + "/plan.json"; }
std::string databaseFile(const std::string &folder) { return folder + "/" + databaseName; }

std::unique_ptr<Executor> executorOf(const Options &options, const std::string &folder,
                                     const Limits &limits) {
  const ExecutorOptions made{options.tool, folder, options.processes, limits};
  return options.executor == ExecutorKind::Local ? makeLocalExecutor(made)
                                                 : makeSlurmExecutor(made);
}

class Exploration {
public:
  Exploration(const Options &options, const Experiment &experiment, const Folder &folder)
      : options_(options), experiment_(experiment), settings_(experiment), folder_(folder),
        database_(databaseFile(folder_.path())), toolHash_(sha256(readFile(options.tool))) {}

  void run() {
    for (const Workload &workload : experiment_.workloads) {
      say(fmt::format("preparing '{}'", escape(workload.name)));
      workloads_.push_back(prepare(workload, toolHash_));
      for (const std::string &warning : workloads_.back().warnings)
        options_.warning(fmt::format("workload '{}': {}", escape(workload.name), warning));
    }
    planner_ = std::make_unique<Planner>(experiment_, settings_, folder_, workloads_, toolHash_);
    if (experiment_.sampling == Sampling::Guided) {
      searchGuided();
    } else {
      const std::vector<uint64_t> chosen = chosenNumbers();
      for (size_t i = 0; i < chosen.size(); ++i) {
        planner_->add(chosen[i]);
        say(fmt::format("{} of {} settings loaded", i + 1, chosen.size()));
      }
    }
    writePlan();
    simulate(0);
    say("");
  }

private:
  void say(const std::string &line) { options_.progress(line); }
  void writePlan() {
    writeFile(planFile(folder_.path()),
              toJson(planner_->plan()).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  std::vector<uint64_t> chosenNumbers() const {
    if (experiment_.screened == 0)
      return chosenSettings(experiment_, settings_);
    const Plan &plan = planner_->plan();
    return screenedSettings(experiment_, settings_, plan.points.front().machine, planner_->drams(),
                            plan.figures, planner_->analytical());
  }

  void searchGuided() {
    Guide guide(settings_, experiment_.seed);
    const auto wanted = static_cast<size_t>(experiment_.points);
    for (size_t done = 0; done < wanted;) {
      const std::vector<uint64_t> next = guide.next(std::min(batch, wanted - done));
      if (next.empty())
        break;
      const size_t first = planner_->plan().points.size();
      for (const uint64_t setting : next)
        planner_->add(setting);
      writePlan();
      simulate(first);
      const Results results = currentResults();
      for (size_t i = 0; i < next.size(); ++i)
        guide.learn(next[i], costsOf(results, first + i * workloads_.size()));
      done += next.size();
    }
  }

  // Of a setting whose points begin at `first`: the objectives of all workloads together.
  std::vector<double> costsOf(const Results &results, size_t first) const {
    std::vector<double> costs(planner_->plan().objectives.size(), 0);
    for (size_t i = first; i < first + workloads_.size(); ++i) {
      if (results.points[i].status != "done")
        return {};
      for (size_t j = 0; j < costs.size(); ++j)
        costs[j] += results.points[i].cost(planner_->plan().objectives[j]);
    }
    return costs;
  }

  Results currentResults() const {
    return resultsOf(planner_->plan(), [&](const std::string &key) { return database_.find(key); });
  }

  void keep(const std::string &key, Progress *progress) {
    const std::string file = recordFile(folder_.path(), key), record = readFile(file);
    database_.keep(key, record, experiment_.limits);
    // The spec first: who finds no record, but the spec, knows that the process wrote none.
    ::unlink(specFile(folder_.path(), key).c_str());
    ::unlink(file.c_str());
    if (progress == nullptr)
      return;
    const Json json = Json::parse(record);
    progress->ended(json.at("status") != "done");
    if (const PlannedPoint *point = planner_->find(key);
        point != nullptr && json.contains("cycles"))
      progress->took(point->workload,
                     json["cycles"].get<double>() / static_cast<double>(point->machine.clockHz));
  }

  // Runs the points from `first` on that have not run.
  void simulate(size_t first) {
    if (!experiment_.isSimulated)
      return;
    std::vector<std::string> keys;
    const std::vector<PointSpec> specs = planner_->specs(first);
    for (const PointSpec &spec : specs) {
      // A run that was killed has left what its processes had finished.
      if (fs::exists(recordFile(folder_.path(), spec.key)))
        keep(spec.key, nullptr);
      if (database_.find(spec.key, experiment_.limits))
        continue;
      writeSpec(folder_.path(), spec);
      keys.push_back(spec.key);
    }
    Progress progress(specs.size(), specs.size() - keys.size());
    auto ended = [&](const std::string &key) {
      keep(key, &progress);
      say(progress.line());
    };
    if (!keys.empty())
      executorOf(options_, folder_.path(), experiment_.limits)->run(keys, ended, [&] {
        say(progress.line());
      });
  }

  const Options &options_;
  const Experiment &experiment_;
  const Settings settings_;
  const Folder &folder_;
  PointDatabase database_;
  const std::string toolHash_;
  std::vector<Prepared> workloads_;
  std::unique_ptr<Planner> planner_;
};

constexpr const char *reports[] = {"/results.csv", "/results.json", "/report.html"};

// Refuses a folder that cannot be written, or in which a file that is read would be replaced.
void checkOutputs(const Options &options, const std::vector<NamedFile> &read) {
  Outputs outputs; // for its checks alone: the folder keeps what is finished, so that an
                   // exploration can go on
  outputs.reads("EXPERIMENT", options.experiment);
  for (const NamedFile &file : read)
    outputs.reads(file.what, file.path);
  outputs.directory("-o", options.folder);
  for (const char *name : reports)
    outputs.file("-o", options.folder + name);
  outputs.file("-o", planFile(options.folder));
  outputs.file("-o", databaseFile(options.folder));
}

std::string writeReports(const std::string &folder, const Plan &plan, const PointDatabase &database,
                         int width) {
  const Results results =
      resultsOf(plan, [&](const std::string &key) { return database.find(key); });
  Outputs outputs;
  outputs.reads("DIR", planFile(folder));
  outputs.reads("DIR", databaseFile(folder));
  for (const char *name : reports)
    outputs.file("-o", folder + name);
  outputs.write(folder + reports[0], toCsv(plan, results));
  outputs.write(folder + reports[1], toJsonText(plan, results));
  outputs.write(folder + reports[2], toHtml(plan, results));
  outputs.commit();
  return toText(plan, results, width);
}

} // namespace

std::string explore(const Options &options, int width) {
  checkOutputs(options, {});
  const Experiment experiment = readExperiment(options.experiment);
  check(experiment);
  checkOutputs(options, experiment.files);
  Folder folder(options.folder);
  try {
    Exploration(options, experiment, folder).run();
  } catch (...) {
    // A folder is left for others to go on from only once it has something to go on from.
    std::error_code ignored;
    if (!fs::exists(planFile(options.folder), ignored))
      folder.discard();
    throw;
  }
  return reportFolder(options.folder, width);
}

std::string reportFolder(const std::string &folder, int width) {
  const std::string path = planFile(folder);
  std::error_code error;
  if (!fs::exists(path, error))
    throw UserError({folder, 0, 0, ""}, "holds no experiment",
                    "give the -o of a `tilewright explore`");
  const Json json = Json::parse(readFile(path), nullptr, false);
  if (json.is_discarded())
    throw UserError({path, 0, 0, ""}, "is no plan of an experiment, or is damaged",
                    "explore into the folder again");
  const PointDatabase database(databaseFile(folder));
  try {
    return writeReports(folder, planFrom(json), database, width);
  } catch (const Json::exception &) {
    throw UserError({path, 0, 0, ""}, "is no plan of an experiment, or is damaged",
                    "explore into the folder again");
  }
}

} // namespace tilewright::explore
